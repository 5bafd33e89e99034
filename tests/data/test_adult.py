"""The bundled data are the data they are said to be."""

import numpy as np
import pyarrow.compute as pc
import pytest

import deniable as dp
from deniable.data import PATH


@pytest.fixture(scope="module")
def adult():
    return dp.load_adult()


def test_the_parts_have_their_sizes(adult):
    assert adult.num_rows == 32_561
    assert dp.load_adult("test").num_rows == 16_281
    assert dp.load_adult("all").num_rows == 48_842


def test_the_known_figures_come_out(adult):
    age, education = adult["age"].to_numpy(), adult["education_num"].to_numpy()
    assert int(age.sum()) == 1_256_257
    assert int((age >= 40).sum()) == 14_237
    assert int((education > 10).sum()) == 10_516
    assert int(age[education > 10].sum()) == 422_876
    assert int(np.minimum(age, 30).sum()) == 913_809
    assert age.mean() == 38.58164675532078
    assert int(((age >= 21) & (age < 33)).sum()) == 9_878
    assert pc.sum(pc.equal(adult["education"], "HS-grad")).as_py() == 10_501
    assert pc.sum(pc.equal(adult["occupation"], "Sales")).as_py() == 3_650


def test_identifiers_are_made_up_and_the_same_each_time(adult):
    first, second = (dp.load_adult(identifiers=True) for _ in range(2))
    assert first.equals(second)
    assert first.column_names[:3] == ["name", "birth_date", "zip"]
    assert first.drop_columns(["name", "birth_date", "zip"]).equals(adult)


def test_a_birth_date_gives_the_age_at_the_end_of_1994():
    table = dp.load_adult(identifiers=True)
    births = table["birth_date"].to_numpy().astype("datetime64[Y]").astype(int) + 1970
    assert (1994 - births == table["age"].to_numpy()).all()


def test_a_part_that_does_not_exist_is_refused():
    with pytest.raises(dp.BadParameter, match="'train', 'test', 'all'"):
        dp.load_adult("validation")


def test_the_file_is_small_and_holds_no_statistics():
    import pyarrow.parquet as pq

    assert PATH.stat().st_size < 500_000
    column = pq.ParquetFile(PATH).metadata.row_group(0).column(0)
    assert column.statistics is None
