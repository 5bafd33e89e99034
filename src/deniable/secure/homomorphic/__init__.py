"""Sums under encryption: one key holder, and parties who send one ciphertext each.

    paillier    additive, packed, from factoring (gmpy2)
    lattice     additive and a few products, from lattices (tenseal's BFV); fails past its depth
    bootstrap   any number of operations: one comparison by Concrete, in an interpreter of its own
    _bootstrapped   what that interpreter runs
    specimens   multiplicative and not enough: unpadded RSA, ElGamal without encoding

Whoever holds the key can read every ciphertext it is sent, so send it the sum only. And encryption
says nothing about what the sum tells: add Skellam shares before encrypting.
"""
