"""Which way crates, folders and files depend on each other; scripts/check-layers runs this.

Rules of ARCHITECTURE.md: a crate uses only crates of the layers below its own, no files of a crate import each other in a
circle and no folders do, a `mod.rs` only declares, and what is for tests stays out of the rest. Imports are read out of the
sources: `use` declarations and qualified paths. A name that a module only passes on (`pub use`) counts as an import of the file
that defines it, so a `mod.rs` that holds nothing but declarations is in no circle. A folder imports what any of its files imports
of the modules beside it; a file `x.rs` belongs to the folder `x`.

usage: check-layers.py [--graph CRATE] < cargo metadata
"""

import json
import pathlib
import re
import sys

# From bottom to top. A crate may use any crate of a layer below.
LAYERS = [
    {"lustre-debuglog", "lioprof-about", "lioprof-stats", "lioprof-remote", "lioprof-testkit"},
    {"lioprof-model"},
    {"lioprof-trace", "lioprof-insight", "lioprof-store", "lioprof-perfetto", "lioprof-plot", "lioprof-report", "lioprof-text",
     "lioprof-params", "lioprof-top"},
    {"lioprof-analysis", "lioprof-anonymise", "lioprof-capture", "lioprof-sim", "lioprof-health"},
    {"lioprof-record"},
    {"lioprof-bench", "lioprof-query", "lioprof"},
]
# Used by tests only.
FOR_TESTS = {"lioprof-testkit"}

ITEM = re.compile(
    r"^(?:pub(?:\([^)]*\))? )?(?:(?:const|unsafe|async|extern \"C\") )*"
    r"(?:fn|struct|enum|union|trait|const|static|type|macro_rules!)\s+(?:mut )?(\w+)",
    re.MULTILINE,
)
CHILD = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?mod (\w+);", re.MULTILINE)
USE = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
PATH = re.compile(r"\b(?:crate|self|super)(?:::\w+)+|\b[a-z]\w*(?:::\w+)+")


def without_comments_and_tests(text):
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    # Tests may look at anything: modules in the file, and files of tests.
    text = re.sub(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))? )?mod \w+ \{.*?^\}", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))? )?mod \w+;", "", text)
    return re.sub(r"#\[cfg\(test\)\]\s*use [^;]+;", "", text)


def leaves(tree):
    """The paths of a `use` tree, each with the name it gets; `*` for all."""
    tree = " ".join(tree.split())
    brace = tree.find("{")
    if brace >= 0 and tree.endswith("}"):
        prefix, depth, start, inner = tree[:brace], 0, 0, tree[brace + 1 : -1]
        parts = []
        for at, char in enumerate(inner):
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                parts.append(inner[start:at])
                start = at + 1
        parts.append(inner[start:])
        for part in filter(None, map(str.strip, parts)):
            yield from leaves(prefix + part)
        return
    path, _, alias = tree.partition(" as ")
    steps = path.strip().split("::")
    if steps[-1] == "self":
        steps.pop()
    yield steps, alias.strip() or steps[-1]


class Module:
    def __init__(self, name, file, text):
        self.name, self.file = name, file
        self.text = without_comments_and_tests(text)
        self.items = set(ITEM.findall(self.text))
        self.children = set(CHILD.findall(self.text))
        self.uses = []
        for visibility, tree in USE.findall(self.text):
            self.uses.extend((bool(visibility), steps, alias) for steps, alias in leaves(tree))


class Crate:
    def __init__(self, name, source):
        self.name, self.modules = name, {}
        self.add((), source)

    def add(self, name, file):
        module = Module(name, file, file.read_text())
        self.modules[name] = module
        folder = file.parent if file.stem in ("lib", "main", "mod") else file.parent / file.stem
        for child in module.children:
            for candidate in (folder / f"{child}.rs", folder / child / "mod.rs"):
                if candidate.exists():
                    self.add((*name, child), candidate)

    def resolve(self, module, steps, seen=frozenset()):
        """The files that a path from within a module leads to."""
        at, steps = module.name, list(steps)
        if steps[0] == "crate":
            at, steps = (), steps[1:]
        elif steps[0] in ("self", "super"):
            while steps and steps[0] in ("self", "super"):
                at, steps = (at[:-1] if steps[0] == "super" else at), steps[1:]
        elif steps[0] not in module.children:
            # A name that the module imports itself, or of another crate.
            for _, path, alias in module.uses:
                if alias == steps[0] and path != steps and (module.name, alias) not in seen:
                    return self.resolve(module, [*path, *steps[1:]], seen | {(module.name, alias)})
            return set()
        while steps and (*at, steps[0]) in self.modules:
            at, steps = (*at, steps[0]), steps[1:]
        target = self.modules[at]
        if not steps or steps[0] in target.items:
            return {at}
        found = set()
        for _, path, alias in target.uses:
            if alias in (steps[0], "*") and (at, alias) not in seen:
                found |= self.resolve(target, path if alias != "*" else [*path[:-1], steps[0]], seen | {(at, alias)})
        return found

    def graph(self):
        graph = {}
        for name, module in self.modules.items():
            body = USE.sub("", module.text)
            paths = [steps for public, steps, _ in module.uses if not public]
            paths += [path.split("::") for path in PATH.findall(body)]
            # Names that the module gets by `pub use` and uses itself.
            paths += [steps for public, steps, alias in module.uses if public and re.search(rf"\b{re.escape(alias)}\b", body)]
            found = set().union(*(self.resolve(module, steps) for steps in paths))
            graph[name] = found - {name}
        return graph


def circles(graph):
    """Strongly connected components of more than one file (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            members = []
            while not members or members[-1] != node:
                members.append(stack.pop())
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def beside_each_other(graph):
    """For each module with children: which of them imports which other, each with all that is in its folder, and by which files."""
    levels = {}
    for name in graph:
        for depth in range(len(name)):
            levels.setdefault(name[:depth], {}).setdefault(name[: depth + 1], {})
    for name, imports in graph.items():
        for other in imports:
            common = 0
            while common < min(len(name), len(other)) and name[common] == other[common]:
                common += 1
            if common < min(len(name), len(other)):
                one, two = name[: common + 1], other[: common + 1]
                levels[name[:common]][one].setdefault(two, []).append((name, other))
    return [levels[parent] for parent in sorted(levels)]


def folder_circles(graph):
    """Circles of folders, or of folders and files beside them, that are no circle of files: members, and the imports that close it."""
    files = [set(circle) for circle in circles(graph)]
    for level in beside_each_other(graph):
        for circle in circles(level):
            inside = set(circle)
            closing = sorted(pair for one in circle for two in level[one] if two in inside for pair in level[one][two])
            if not any({name for pair in closing for name in pair} <= of for of in files):
                yield circle, closing


def main():
    sys.setrecursionlimit(10_000)
    metadata = json.load(sys.stdin)
    members = {package["name"]: package for package in metadata["packages"] if package["id"] in metadata["workspace_members"]}
    layer = {name: number for number, names in enumerate(LAYERS) for name in names}
    problems = []
    for name, package in sorted(members.items()):
        if name not in layer:
            problems.append(f"{name} is in no layer: add it to LAYERS in scripts/check-layers.py and to ARCHITECTURE.md")
            continue
        for dependency in package["dependencies"]:
            used = dependency["name"]
            if dependency["kind"] is None and used in layer and layer[used] >= layer[name]:
                problems.append(f"{name} uses {used}, which is not of a layer below it")
            if used in FOR_TESTS and dependency["kind"] != "dev":
                problems.append(f"{name} uses {used}, which is for tests: only under [dev-dependencies]")
        for target in package["targets"]:
            if not {"lib", "bin"} & set(target["kind"]):
                continue
            crate = Crate(name, pathlib.Path(target["src_path"]))
            graph = crate.graph()
            shown = lambda module: str(crate.modules[module].file.relative_to(metadata["workspace_root"]))
            if sys.argv[1:] == ["--graph", name]:
                for module in sorted(graph):
                    print(shown(module), "->", " ".join(sorted(map(shown, graph[module]))))
            for module in crate.modules.values():
                if module.file.name == "mod.rs" and module.items:
                    items = ", ".join(sorted(module.items))
                    problems.append(f"{shown(module.name)} defines {items}: a mod.rs only declares; move it to a file of its own")
            for members_of in circles(graph):
                inside = set(members_of)
                lines = [f"    {shown(one)} imports {', '.join(shown(to) for to in sorted(graph[one] & inside))}" for one in members_of]
                problems.append(f"{name}: {len(members_of)} files import each other in a circle:\n" + "\n".join(lines))
            for circle, closing in folder_circles(graph):
                names = ", ".join("::".join(one) for one in circle)
                lines = [f"    {shown(one)} imports {shown(two)}" for one, two in closing]
                problems.append(
                    f"{name}: {names} import each other:\n" + "\n".join(lines) + "\n"
                    "  decide which one is below, and move what it imports of the others: into it, or into a module below both"
                )
    for problem in problems:
        print(f"check-layers: {problem}", file=sys.stderr)
    if problems:
        sys.exit(1)
    print(f"check-layers: {len(members)} crates in {len(LAYERS)} layers, no circle of files or folders, nothing but declarations in mod.rs")


main()
