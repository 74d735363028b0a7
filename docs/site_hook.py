"""Pages of the site that are kept elsewhere in the repository: the benchmarks' tables, CONTRIBUTING and CHANGELOG."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
PAGES = {"contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}
# Links that leave docs/ lead to the copies; other files of the repository are not part of the site.
_TABLES = re.compile(r"\]\((?:\.\./)+benchmarks/(\w+)/RESULTS\.md\)")
_REPOSITORY = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:cases|benchmarks|src|tests)[^)]*\)")


def on_files(files: Files, config: Any) -> Files:
    tables = {
        f"benchmarks/{path.parent.name}.md": path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.glob("benchmarks/*/RESULTS.md"))
    }
    for page, source in (PAGES | tables).items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    listed = "\n".join(f"- [{Path(page).stem}]({Path(page).name})" for page in tables)
    files.append(
        File.generated(
            config, "benchmarks/index.md", content=f"# Tables\n\nAs the benchmarks wrote them:\n\n{listed}\n"
        )
    )
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    up = "../" * page.file.src_uri.count("/")
    return _REPOSITORY.sub(r"\1", _TABLES.sub(rf"]({up}benchmarks/\1.md)", markdown))
