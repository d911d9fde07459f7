"""A software bill of materials in the CycloneDX format, from the report of an installation by pip."""

from pathlib import Path
from typing import Any

from trust.environments import Environment, Failed, run

FORMAT = "1.6"
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(error and str(error))
"""


def bill_of_materials(report: dict[str, Any]) -> dict[str, Any]:
    """Return name, version, licence and checksum of every distribution that pip installed."""
    parts = [_component(item) for item in report["install"]]
    (product,) = [part for part in parts if part["name"] == "vebnn"]
    others = sorted((part for part in parts if part is not product), key=lambda part: part["name"])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": FORMAT,
        "version": 1,
        "metadata": {"component": {**product, "type": "library"}},
        "components": others,
        "dependencies": [
            {"ref": product["bom-ref"], "dependsOn": sorted(part["bom-ref"] for part in others)}
        ],
    }


def _component(item: dict[str, Any]) -> dict[str, Any]:
    about = item["metadata"]
    name, version = about["name"].lower().replace("_", "-"), about["version"]
    address = f"pkg:pypi/{name}@{version}"
    component = {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": version,
        "purl": address,
    }
    if licence := _licence(about):
        component["licenses"] = [{"license": {"name": licence}}]
    if digest := item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256"):
        component["hashes"] = [{"alg": "SHA-256", "content": digest}]
    return component


def _licence(about: dict[str, Any]) -> str:
    """Return the licence as stated: an expression, a classifier, or one line of free text."""
    marks = [one for one in about.get("classifier", []) if one.startswith("License ::")]
    stated = about.get("license_expression") or (marks and marks[0].split(" :: ")[-1])
    return stated or (about.get("license") or "").strip().split("\n")[0]


def validate(bill: Path, tools: Environment) -> str:
    """Return what is wrong with a bill by the published schema; empty if nothing is."""
    run(tools.python, "-m", "pip", "install", "--quiet", "cyclonedx-python-lib[json-validation]")
    try:
        run(tools.python, "-c", VALIDATE, bill)
    except Failed as failure:
        return str(failure)
    return ""
