# SPDX-License-Identifier: MIT
"""The names that models use are those of the code.

What a model defines (variables outside of processes, constants, macros, inlines,
processes) is named as its counterpart in src/lf; the model's comment
`own: NAME...` lists the names that have none; that of shard.inc counts for the
models that include it.  A function that a comment names
with parentheses is one of src/lf, or of another folder of src if the comment
`elsewhere: NAME...` lists it.  A comment `folders: NAME...` names the folders of
src that stand in the place of src/lf.  Each list ends with a full stop."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SRC = HERE.parent.parent / "src"
COMMENT = re.compile(r"/\*.*?\*/", re.S)
DEFINED = (
    r"^#define (\w+)",
    r"^(?:inline|(?:active (?:\[\w+\] )?)?proctype) (\w+)",
)
VARIABLES = re.compile(r"^(?:bool|byte|short|int)\s+([^;]*);", re.M)
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^\]]*\])?\s*(?:=[^,]*)?(?:,|$)")


def code_words(folder):
    """All words of a folder's code: no comments, no strings."""
    words = set()
    for path in folder.rglob("*.[ch]"):
        text = COMMENT.sub(" ", path.read_text(encoding="utf-8"))
        words |= set(re.findall(r"[A-Za-z_]\w*",
                                re.sub(r'"(?:\\.|[^"\\])*"', '""', text)))
    return words


def listed(comments, title):
    found = re.findall(rf"\b{title}: ([\w\s*]+)\.", comments)
    return set(re.findall(r"\w+", " ".join(found)))


def defined(text):
    names = set()
    for pattern in DEFINED:
        names |= set(re.findall(pattern, text, re.M))
    for declared in VARIABLES.findall(text):
        names |= set(VARIABLE.findall(" ".join(declared.split())))
    return names


def wrong_names(path, core, all_code):
    """What is wrong with one model's names, a line each."""
    text = path.read_text(encoding="utf-8")
    comments = "\n".join(COMMENT.findall(text))
    for folder in listed(comments, "folders"):
        core = code_words(SRC / folder)
    code = COMMENT.sub(" ", text)
    own, elsewhere = listed(comments, "own"), listed(comments, "elsewhere")
    names, shared = defined(code), set()
    if '#include "shard.inc"' in code:
        shared = listed((HERE / "shard.inc").read_text(encoding="utf-8"),
                        "own")
    called = set(re.findall(r"\b([a-z]\w*)\(\)", comments)) - own
    for name in sorted(names - own - shared - core):
        yield f"{name} is not in src/lf, nor in the list of own names"
    for name in sorted(called - elsewhere - core):
        yield f"{name}() is not in src/lf"
    for name in sorted(elsewhere - all_code):
        yield f"{name}() is not in src"
    if path.suffix == ".inc":
        names |= set(re.findall(r"\w+", code))
    for name in sorted(own - names):
        yield f"{name} is in the list of own names, and not defined"
    for name in sorted(elsewhere - called):
        yield f"{name} is in the list of other folders' names, and not used"


def check():
    """All wrong names of all models, a line each."""
    core, all_code = code_words(SRC / "lf"), code_words(SRC)
    return [f"{path.name}: {line}"
            for path in sorted(HERE.iterdir())
            if path.suffix in (".pml", ".inc")
            for line in wrong_names(path, core, all_code)]


if __name__ == "__main__":
    print("\n".join(check()))
