"""What people install has everything that the source tree has."""

import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    setup = [ROOT / "script" / "setup", "package"]
    python = subprocess.run(setup, check=True, capture_output=True, text=True).stdout.strip()
    build = [ROOT / python, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(build, check=True, capture_output=True, text=True)
    return folder


@pytest.fixture(scope="module")
def listed():
    """Every file that git keeps."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a clone: what belongs to the project is not listed")
    asked = ["git", "-C", ROOT, "ls-files"]
    return set(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split())


pytestmark = pytest.mark.xdist_group("package")


def test_a_wheel_has_every_file_of_the_package_and_nothing_else(made, listed):
    (wheel,) = made.glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert inside == {f.removeprefix("src/") for f in listed if f.startswith("src/")}
    assert {"deniable/py.typed", "deniable/data/adult.parquet"} <= inside


def test_a_source_distribution_has_what_its_own_tests_need(made, listed):
    (archive,) = made.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        inside = {name.partition("/")[2] for name in opened.getnames()}
    needed = ("src", "tests", "script", "requirements")
    assert not {file for file in listed if file.startswith(needed)} - inside
