"""Catalogue of the eight UCI regression sets of the paper: names of columns, sizes and checksums.

The files are those of the public repository martius-lab/beta-nll at the commit below: one line per
row, numbers separated by whitespace, inputs first and targets last.

Two files are accepted for superconduct. One is upstream's, of which only the git blob id is known. The
other was rebuilt: its 81 features were computed from the public chemical compositions by Hamidieh's
(2018) formulas, in the row order of the original. Its values agree with the original to 1e-10, but not
byte for byte, so it has a SHA-256 of its own.
"""

import hashlib
from pathlib import Path
from typing import NamedTuple

import pooch

REPOSITORY = "https://github.com/martius-lab/beta-nll"
COMMIT = "669c9f251eb41464c1ec8b43751c7c742dd75cf9"


class Source(NamedTuple):
    """One file: its place upstream, its columns and its checksum."""

    folder: str  # in the upstream repository, below data/UCI_Datasets
    num_rows: int
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    sha256: str
    git_blob: str | None = None  # of a second file that is accepted; its SHA-256 is not known

    @property
    def upstream_path(self) -> str:
        """Path of the file in the upstream repository."""
        return f"data/UCI_Datasets/{self.folder}/data/data.txt"

    def accepts(self, path: Path) -> bool:
        """Return whether a file has one of the known checksums."""
        if pooch.file_hash(path) == self.sha256:
            return True
        return self.git_blob is not None and git_blob_id(path.read_bytes()) == self.git_blob


def git_blob_id(content: bytes) -> str:
    """Return git's name for a file's content: SHA-1 of its size and the content."""
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_ELEMENT_PROPERTIES = _names(
    "atomic_mass first_ionisation_energy atomic_radius density electron_affinity fusion_heat "
    "thermal_conductivity valence"
)

SOURCES: dict[str, Source] = {
    "boston": Source(
        "bostonHousing",
        506,
        _names(
            "crime_rate large_lots non_retail_business charles_river nitric_oxides rooms "
            "built_before_1940 distance_to_work highway_access property_tax pupils_per_teacher "
            "b_statistic lower_status"
        ),
        _names("median_value"),  # thousand US dollars
        "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
    ),
    "carbon": Source(
        "carbon",
        10721,
        _names("chiral_index_n chiral_index_m initial_u initial_v initial_w"),
        # As in upstream's index_target.txt. The paper's tables say "7, 1", but their errors are those
        # of three targets: see docs/results/uci.md.
        _names("calculated_u calculated_v calculated_w"),
        "af4583a472aaeb7ecbb1f190c438626dd0b8da52f0c4ff7554c2b2017454f23a",
    ),
    "concrete": Source(
        "concrete",
        1030,
        # kg per m³; age in days
        _names(
            "cement blast_furnace_slag fly_ash water superplasticiser coarse_aggregate "
            "fine_aggregate age"
        ),
        _names("compressive_strength"),  # MPa
        "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de",
    ),
    "energy": Source(
        "energy",
        768,
        _names(
            "relative_compactness surface_area wall_area roof_area overall_height orientation "
            "glazing_area glazing_area_distribution"
        ),
        _names("heating_load cooling_load"),
        "ce51fddcc26ec8d10e003c9b7352cdf898bef27ee33121fe0673b2970cc87566",
    ),
    "power": Source(
        "power-plant",
        9568,
        # °C, cm Hg, mbar, %
        _names("temperature exhaust_vacuum ambient_pressure relative_humidity"),
        _names("electrical_output"),  # MW
        "daebd20c408dfc5c4979604f240e891be162c3a5d00d662380aa669044a1fb31",
    ),
    "superconduct": Source(
        "superconductivity",
        21263,
        (
            "number_of_elements",
            *(
                f"{weighted}{statistic}_{name}"
                for name in _ELEMENT_PROPERTIES
                for statistic in ("mean", "geometric_mean", "entropy", "range", "std")
                for weighted in ("", "weighted_")
            ),
        ),
        _names("critical_temperature"),  # K
        "3e4d129eb8c03e54723c871abc41fe6eb64a01db4ad0ba278b955cf6828db896",  # the rebuilt file
        git_blob="9e40d1ec94f4c2f9846514dde2bcceddb0b15e38",  # upstream's
    ),
    "wine-red": Source(
        "wine-quality-red",
        1599,
        _names(
            "fixed_acidity volatile_acidity citric_acid residual_sugar chlorides "
            "free_sulfur_dioxide total_sulfur_dioxide density ph sulphates alcohol"
        ),
        _names("quality"),
        "3ba41eaf4ab562088cf47b5c9dca2b4de2a330c3ee38a7920b4527a09574d5c1",
    ),
    "yacht": Source(
        "yacht",
        308,
        _names(
            "buoyancy_position prismatic_coefficient length_displacement_ratio beam_draught_ratio "
            "length_beam_ratio froude_number"
        ),
        _names("residuary_resistance"),
        "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
    ),
}
