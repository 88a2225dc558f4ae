"""Expressions that select devices mean to Platoon what they mean to the API server's own CEL, or are not supported."""
import json
import os
import random
import subprocess
import tempfile

from kit import PLATOON, test

HERE = os.path.dirname(os.path.realpath(__file__))
DRIVER = "gpu.example.com"
COUNT = int(os.environ.get("PLATOON_EXPRESSIONS", "100000"))
SEED = int(os.environ.get("PLATOON_EXPRESSIONS_SEED", "1"))

DEVICES = [
    {"name": "full", "allowMultipleAllocations": True, "attributes": {
        "type": {"string": "gpu"}, "productName": {"string": "NVIDIA A100-PCIE-40GB"}, "index": {"int": 0},
        "flag": {"bool": True}, "driverVersion": {"version": "580.126.20"}, "other.example.com/type": {"string": "x"},
        "other.example.com/zone": {"string": "zürich-東"}, "low": {"int": -9223372036854775808}},
     "capacity": {"memory": {"value": "40Gi"}, "cores": {"value": "8"}, "other.example.com/rate": {"value": "1500m"}}},
    {"name": "slice", "attributes": {
        "type": {"string": "mig"}, "profile": {"string": "1g.5gb"}, "index": {"int": 3}, "flag": {"bool": False},
        "driverVersion": {"version": "1.0.0-rc.1+build.5"}}, "capacity": {"memory": {"value": "4864Mi"}}},
    {"name": "odd", "attributes": {  # the names of the others with values of other types
        "type": {"int": 7}, "productName": {"bool": True}, "index": {"string": "3"}, "flag": {"string": "true"},
        "driverVersion": {"string": "1.2.3"}}, "capacity": {"memory": {"value": "0.5"}, "cores": {"value": "-2"}}},
    {"name": "bare"},
]

STRINGS = ["a-b ü", "a\\nb", "gpu", "mig", "", "NVIDIA A100-PCIE-40GB", "a100", "1g.5gb", "x", "zürich-東", "3", "-12", "true", "A-b-C", "10Gi",
           "1.2.3", "v1.2", "01.2.3", "1.0.0-rc.1", "1.0.0-alpha", "9223372036854775807", "40Gi", "200K", "1500m", "nonsense"]
IDS = ["type", "productName", "index", "flag", "driverVersion", "profile", "missing", "zone", "low"]
CAPACITIES = ["memory", "cores", "rate", "missing"]
DOMAINS = [DRIVER, DRIVER, DRIVER, "other.example.com", "absent.example.com"]
QUANTITIES = ["10Gi", "40Gi", "8", "1500m", "1.5", "0", "-2", "1e3", "200K", "", "4864Mi", "0.5", "1n"]
VERSIONS = ["580.0.0", "1.0.0", "1.0.0-rc.1", "1.0.0-rc.2", "1.0.0-alpha.beta", "1.0", "v1.0.0", "01.0.0", "580.126.20", "1.2.3+a"]
PATTERNS = ["^.*a100.*$", "A100", "^gpu$", "[0-9]+g\\.", "(?i)nvidia", "\\d{2,3}", "^(a|b|x)+$", "\\w+-\\w+", "\\s", "^$", "(",
            "a**", "[[:upper:]]{2}", "[^a-z]$", "z(?:ü|u)", ".", "x{0}", "\\bA100\\b", "(?P<n>g)pu", "a{2,1}", "\\p{Lu}+", "[a-"]
PIECES = ["a", "[a-z]", "g", ".", "\\d", "\\w", "\\s", "\\S", "[^g]", "[\\d.-]", "(a|b)", "(?:g|u)", "\\.", "-", "ü", "\\pL", "[\\S]",
          "\\x41", "\\x{fc}", "[[:alpha:]]", "[[:^digit:]x]", "\\Q.-\\E", "\\101", "(?i)", "(?i:A)", "(?s).", "(?m)^", "^", "$", "\\b", "\\B", "\\A", "\\z",
          "|", "(", ")", "[", "]", "{", "}", "]a", "[]a]", "[a-]", "(?U)", "(?P<w>x)", "\\1", "\\v", "[z-a]", "\\-", "\\_", "é"]
REPEATS = ["", "", "", "*", "+", "?", "*?", "{2}", "{1,2}", "{0,}", "{,2}", "**", "{2,1}", "{1001}"]


class Generator:
    """Expressions by type. Now and then a part of another type stands in its place."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = []

    def pick(self, items):
        return self.random.choice(items)

    def chance(self, percent):
        return self.random.randrange(100) < percent

    def quote(self, text):
        if self.chance(10) and "\\" in text:
            return f"r'{text}'"
        mark = self.pick("\"'")
        return mark + text.replace("\\", "\\\\").replace(mark, "\\" + mark) + mark

    def pattern(self):
        if self.chance(50):
            return self.pick(PATTERNS)
        return "".join(self.pick(PIECES) + self.pick(REPEATS) for _ in range(self.random.randrange(1, 5)))

    def domain(self, which):
        bound = [name for name, kind in self.names if kind == which]
        if bound and self.chance(40):
            return self.pick(bound)
        return f"device.{which}[{self.quote(self.pick(DOMAINS))}]"

    def attribute(self):
        name = self.pick(IDS)
        domain = self.domain("attributes")
        if self.chance(15):
            return f"{domain}[{self.quote(name)}]"
        return f"{domain}.{name}"

    def capacity(self):
        name = self.pick(CAPACITIES)
        return self.pick([f"{self.domain('capacity')}.{name}", f"{self.domain('capacity')}[{self.quote(name)}]"])

    def text(self, depth):
        bound = [name for name, kind in self.names if kind == "string"]
        if bound and self.chance(30):
            return self.pick(bound)
        if depth <= 0 or self.chance(40):
            return self.pick([self.quote(self.pick(STRINGS)), self.attribute(), "device.driver", self.attribute()])
        return self.pick([
            lambda: f"{self.text(depth - 1)}.lowerAscii()", lambda: f"{self.text(depth - 1)}.upperAscii()",
            lambda: f"({self.text(depth - 1)} + {self.text(depth - 1)})", lambda: f"string({self.value(depth - 1)})",
            lambda: f"{self.text(depth - 1)}.split({self.quote(self.pick(['-', '.', '', 'g']))})[{self.random.randrange(3)}]",
            lambda: f"{self.domain('attributes')}.?{self.pick(IDS)}.orValue({self.text(depth - 1)})",
            lambda: f"({self.truth(depth - 1)} ? {self.text(depth - 1)} : {self.text(depth - 1)})"])()

    def number(self, depth):
        if depth <= 0 or self.chance(40):
            return self.pick([str(self.random.randrange(-3, 12)), self.attribute(), "0x1F", "9223372036854775807",
                              "-9223372036854775808", self.attribute()])
        return self.pick([
            lambda: f"({self.number(depth - 1)} + {self.number(depth - 1)})", lambda: f"({self.number(depth - 1)} - {self.number(depth - 1)})",
            lambda: f"-{self.attribute()}", lambda: f"{self.text(depth - 1)}.size()", lambda: f"size({self.range(depth - 1)[0]})",
            lambda: f"int({self.text(depth - 1)})", lambda: f"{self.version(depth - 1)}.{self.pick(['major', 'minor', 'patch'])}()",
            lambda: f"{self.version(depth - 1)}.compareTo({self.version(depth - 1)})",
            lambda: f"{self.quantity(depth - 1)}.compareTo({self.quantity(depth - 1)})", lambda: f"{self.quantity(depth - 1)}.asInteger()",
            lambda: f"{self.domain('attributes')}.?{self.pick(IDS)}.orValue({self.number(depth - 1)})"])()

    def version(self, depth):
        if depth <= 0 or self.chance(60):
            text = self.quote(self.pick(VERSIONS))
            return self.pick([self.attribute(), f"semver({text})", f"semver({text}, {self.pick(['true', 'false'])})"])
        return f"semver({self.text(depth - 1)})"

    def quantity(self, depth):
        if depth <= 0 or self.chance(60):
            return self.pick([self.capacity(), f"quantity({self.quote(self.pick(QUANTITIES))})"])
        return self.pick([f"quantity({self.text(depth - 1)})",
                          f"{self.domain('capacity')}.?{self.pick(CAPACITIES)}.orValue({self.quantity(depth - 1)})"])

    def range(self, depth):
        """Something that has elements, and their type."""
        return self.pick([
            lambda: (self.domain("attributes"), "string"), lambda: (self.domain("capacity"), "string"),
            lambda: ("device." + self.pick(["attributes", "capacity"]), "string"),
            lambda: (f"{self.text(depth - 1)}.split('-')", "string"),
            lambda: ("[" + ", ".join(self.quote(self.pick(STRINGS)) for _ in range(self.random.randrange(4))) + "]", "string"),
            lambda: ("[" + ", ".join(str(self.random.randrange(5)) for _ in range(self.random.randrange(1, 4))) + "]", "int"),
            lambda: (f"[{self.attribute()}, {self.attribute()}]", "any")])()

    def value(self, depth):
        return self.pick([self.text, self.number, self.version, self.quantity, self.truth])(depth)

    def quantifier(self, depth):
        source, kind = self.range(depth - 1)
        name = self.pick("kvw")
        self.names.append((name, kind))
        body = self.truth(depth - 1)
        if self.chance(50):
            body = f"{name} == {self.text(0)}" if kind != "int" else f"{name} > {self.number(0)}"
        self.names.pop()
        return f"{source}.{self.pick(['exists', 'all', 'exists_one'])}({name}, {body})"

    def bind(self, depth):
        which = self.pick(["attributes", "capacity", "string"])
        value = self.text(depth - 1) if which == "string" else self.domain(which)
        name = self.pick(["dra", "d", "s"])
        self.names.append((name, which))
        body = self.truth(depth - 1)
        self.names.pop()
        return f"cel.bind({name}, {value}, {body})"

    def comparison(self, depth):
        side = self.pick([self.text, self.text, self.number, self.number, self.value])
        other = side if self.chance(90) else self.value
        return f"{side(depth - 1)} {self.pick(['==', '!=', '<', '<=', '>', '>=', '==', '=='])} {other(depth - 1)}"

    def truth(self, depth):
        if self.chance(3):
            return self.value(depth - 1)
        if depth <= 0:
            return self.pick(["true", "false", self.attribute(), "device.allowMultipleAllocations", f"{self.attribute()} == {self.text(0)}"])
        method = self.pick(["startsWith", "endsWith", "contains"])
        return self.pick([
            lambda: self.comparison(depth), lambda: self.comparison(depth), lambda: self.comparison(depth),
            lambda: f"{self.truth(depth - 1)} && {self.truth(depth - 1)}", lambda: f"{self.truth(depth - 1)} || {self.truth(depth - 1)}",
            lambda: f"({self.truth(depth - 1)})", lambda: f"!({self.truth(depth - 1)})", lambda: f"!{self.attribute()}",
            lambda: f"{self.quantity(depth - 1)} == {self.quantity(depth - 1)}",
            lambda: f"{self.quantity(depth - 1)}.{self.pick(['isGreaterThan', 'isLessThan'])}({self.quantity(depth - 1)})",
            lambda: f"{self.version(depth - 1)}.{self.pick(['isGreaterThan', 'isLessThan'])}({self.version(depth - 1)})",
            lambda: f"{self.text(depth - 1)}.matches({self.quote(self.pattern())})",
            lambda: f"{self.text(depth - 1)}.{method}({self.text(depth - 1)})",
            lambda: f"{self.quote(self.pick(IDS + CAPACITIES))} in {self.domain(self.pick(['attributes', 'capacity']))}",
            lambda: f"{self.quote(self.pick(DOMAINS))} in device.{self.pick(['attributes', 'capacity'])}",
            lambda: f"{self.value(depth - 1)} in {self.range(depth - 1)[0]}",
            lambda: f"has({self.domain('attributes')}.{self.pick(IDS)})", lambda: f"has({self.domain('capacity')}.{self.pick(CAPACITIES)})",
            lambda: f"has(device.{self.pick(['attributes.foo', 'driver', 'capacity', 'attributes'])})",
            lambda: f"{self.domain('attributes')}.?{self.pick(IDS)}.orValue({self.truth(depth - 1)})",
            lambda: f"device.attributes.?nowhere.?{self.pick(IDS)}.orValue({self.truth(depth - 1)})",
            lambda: f"isQuantity({self.text(depth - 1)})", lambda: f"isSemver({self.text(depth - 1)})",
            lambda: f"isSemver({self.text(depth - 1)}, true)", lambda: self.bind(depth), lambda: self.quantifier(depth),
            lambda: f"({self.truth(depth - 1)} ? {self.truth(depth - 1)} : {self.truth(depth - 1)})"])()

    def expression(self):
        self.names = []
        text = self.truth(self.random.randrange(1, 5))
        if self.chance(3):  # cut, doubled or changed at a place
            at = self.random.randrange(len(text))
            text = self.pick([text[:at], text[:at] + text[at + 1:], text[:at] + self.pick("()[].'!&|?:,+-*{}x0 ") + text[at:]])
        return text


def judged(command, folder, name):
    """What a program says about each of the expressions in the folder."""
    output = subprocess.run(command + [os.path.join(folder, "expressions"), os.path.join(folder, "devices"), DRIVER],
                            check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(output) == COUNT, f"{name} answered {len(output)} of {COUNT}"
    return output


def same(ours, theirs):
    """U: a bound of ours was met, and said so."""
    return ours == theirs or (len(ours) == len(theirs) and all(one in ("U", other) for one, other in zip(ours, theirs)))


@test
def expressions_mean_what_they_mean_to_the_api_server(_plane):
    generator = Generator(SEED)
    with tempfile.TemporaryDirectory() as folder:
        expressions = [generator.expression() for _ in range(COUNT)]
        with open(os.path.join(folder, "expressions"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(text) + "\n" for text in expressions)
        with open(os.path.join(folder, "devices"), "w", encoding="utf-8") as file:
            json.dump(DEVICES, file)
        binaries = subprocess.run([os.path.join(HERE, "../../scripts/kube-binaries"), "cel"], check=True,
                                  stdout=subprocess.PIPE, text=True).stdout.strip()
        theirs = judged([os.path.join(binaries, "cel")], folder, "the API server's CEL")
        ours = judged([os.path.join(os.path.dirname(os.path.realpath(PLATOON)), "..", "..", "test", "expressions")], folder, "Platoon")
    unsupported = sum(line.startswith("unsupported") or "U" in line for line in ours)
    differing = [(text, one, other) for text, one, other in zip(expressions, ours, theirs)
                 if not one.startswith("unsupported") and not same(one.split("\t")[0], other)]
    for text, one, other in differing[:20]:
        print(f"  {text}\n    here {one}, there {other}")
    assert not differing, f"{len(differing)} of {COUNT} expressions mean something else"
    # The generator speaks the language that is supported: what is not is chance, and rare.
    assert unsupported < COUNT // 10, f"{unsupported} of {COUNT} are not supported"
    valid = sum(line != "invalid" for line in theirs)
    assert valid > COUNT // 2, f"only {valid} of {COUNT} are valid"
