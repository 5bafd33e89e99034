"""What learners share: features on a lattice, exact sums over examples, noise, and its price.

spaces       features as whole numbers: what learners ask of them, and real numbers on a lattice
cells        features that are cells of columns, several columns packed into one number
links        residuals of logistic and softmax models, by tables and IEEE arithmetic
examples     the rows to learn from, hidden, and how far one unit moves a sum over them
batches      noise for disjoint batches, priced by the epoch
budget       a list of Gaussian noises that meets a loss, charged as one block
moments      noisy second moments, and products of features with a target
groups       noisy counts, sums and sums of squares by group
minima       minima of penalised losses, with a certified gradient
perturbed    objective and output perturbation
descent      preconditioned noisy gradient descent
rowwise      products that round each row alike
made_up      a user's function is tried on made-up rows
"""
