#!/usr/bin/env python3
"""The real program against hostile input: cut, huge, deep, wrong, unreadable.

    test_hostile.py PLATOON SOURCE_ROOT [TEXT]         TEXT picks cases whose name contains it, and tells their time

Whatever the input, a run must end by itself with a documented exit code, say what is wrong and where, print nothing
that moves the cursor of a terminal, and stay within time and memory. The last line is `N passed, M failed`.
"""
import os
import re
import stat
import subprocess
import sys
import threading
import time

import inputs
from runs import ENVIRONMENT, PLATOON, ROOT, SCRATCH, Run, everywhere, expect, require, sane, write

ONLY = sys.argv[3] if len(sys.argv) > 3 else ""
EXAMPLE = os.path.join(ROOT, "examples", "first-gang.yaml")
CASES = []
MIB = 1 << 20


def case(function):
    CASES.append(function)
    return function


# Text that is no manifest


@case
def files_cut_anywhere():
    """A file cut at any byte is refused with its name, or is a shorter file that is right by itself."""
    with open(EXAMPLE, "rb") as file:
        text = file.read()
    ends = range(0, len(text), 7)
    for end in ends:
        write(f"cut/{end}.yaml", text[:end])
    run = expect(2, ["validate", "-f", "cut"], memory=900, seconds=60)
    bad = set(re.findall(r"^cut/(\d+)\.yaml: error: line \d+, column \d+: ", run.err, re.MULTILINE))
    require(len(ends) // 3 < len(bad) < len(ends), run, f"{len(bad)} of {len(ends)} cut files are refused")
    for end in ends[::50]:
        name = write("cut.yaml", text[:end])
        for command in ("plan", "validate"):
            run = sane(Run([command, "-f", name]))
            require(run.code == 0 or "cut.yaml" in run.out + run.err, run, f"cut at {end}: the file is not named")


@case
def every_seventh_byte_of_a_small_file():
    text = inputs.small().encode()
    for end in range(0, len(text), 7):
        run = sane(Run(["plan", "-f", "-"], feed=text[:end]))
        require(run.code == 0 or "stdin" in run.out + run.err, run, f"cut at {end}: the input is not named")
    as_json = inputs.small_json().encode()
    for end in range(1, len(as_json) - 1, 7):
        run = sane(Run(["validate", "-f", "-"], feed=as_json[:end]))
        require(run.code == 2 and "stdin: error: line 1" in run.err, run, f"cut at {end}: no place is named")


@case
def every_byte_changed():
    """One flipped byte anywhere: still an answer, never a crash."""
    text = inputs.small().encode()
    for at in range(0, len(text), 29):
        for flip in (0x01, 0x20, 0x80):
            sane(Run(["plan", "-f", "-"], feed=text[:at] + bytes([text[at] ^ flip]) + text[at + 1:]))


@case
def binary_garbage():
    garbage = inputs.noise(200_000)
    for name in ("garbage.yaml", "garbage.json"):
        everywhere(2, write(name, garbage), name + ": error: ")
    with open(PLATOON, "rb") as file:
        everywhere(2, write("program.yaml", file.read(4 * MIB)), "program.yaml: error: ")


@case
def nul_bytes():
    everywhere(2, write("nul.yaml", inputs.small().encode().replace(b"default", b"def\0ult", 1)),
               "nul.yaml: error: line ")
    everywhere(2, write("zeros.yaml", bytes(1 * MIB)), "zeros.yaml: error: ")
    # Escaped, it is a character of the string, and no name may have it.
    expect(2, ["validate", "-f", "-"], "metadata.name", "no NUL", feed=inputs.pod('"a\\0b"').encode())


@case
def invalid_utf8():
    for number, bad in enumerate((b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xe2\x82")):
        everywhere(2, write(f"utf8-{number}.yaml", inputs.small().encode().replace(b"default", b"def" + bad, 1)),
                   f"utf8-{number}.yaml: error: line ")
        everywhere(2, write(f"utf8-{number}.json", inputs.small_json().encode().replace(b"default", b"def" + bad, 1)),
                   f"utf8-{number}.json: error: ")


@case
def other_encodings():
    text = inputs.small()
    plain = expect(0, ["plan", "-f", "-"], "Placed", feed=text.encode())
    for what, coded in (("byte order mark", b"\xef\xbb\xbf" + text.encode()),
                        ("CRLF", text.replace("\n", "\r\n").encode()),
                        ("both", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()),
                        ("JSON with byte order mark", b"\xef\xbb\xbf" + inputs.small_json().encode())):
        run = expect(0, ["plan", "-f", "-"], feed=coded)
        require(run.out == plain.out, run, f"{what}: not the plan of the plain file")
    # UTF-16 is legal YAML and kubectl does not read it: either is fine, silence is not.
    for coding in ("utf-16", "utf-16-be"):
        run = sane(Run(["plan", "-f", "-"], feed=text.encode(coding)))
        require(run.out == plain.out or (run.code == 2 and "stdin: error:" in run.err), run,
                f"{coding} is neither read nor refused")


@case
def nothing_at_all():
    for name, text in (("empty.yaml", ""), ("blank.yaml", " \n\n"), ("comment.yaml", "# nothing\n"),
                       ("marks.yaml", "---\n---\n...\n"),
                       ("null.yaml", "null\n"), ("empty.json", "")):
        write(name, text)
        expect(0, ["validate", "-f", name], "0 objects checked")
        expect(0, ["plan", "-f", name], "0 groups")
        expect(2, ["simulate", name], "no scenario found")


@case
def values_that_are_no_objects():
    for number, text in enumerate(("42", "text", "[]", "[1, 2]", "{}", "kind: Pod", "apiVersion: v1", "[[[]]]",
                                   "true", "kind: [Pod]",
                                   "kind: PodGroup", "apiVersion: v1\nkind: List\nitems: 3",
                                   "apiVersion: v1\nkind: List\nitems: [1, null, {}]",
                                   "apiVersion: v1\nkind: Pod\nmetadata: 3",
                                   "apiVersion: v1\nkind: Pod\nmetadata: {name: [a]}")):
        name = write(f"value-{number}.yaml", text)
        run = sane(Run(["validate", "-f", name]))
        require(run.code in (1, 2), run, f"{text!r} is accepted")
        require(name in run.out + run.err, run, f"{text!r}: the file is not named")
        run = sane(Run(["plan", "-f", name]))
        require(name in run.out + run.err or "left out" in run.out, run, f"{text!r}: not a word about it")


# Size and depth


@case
def a_gigabyte_of_brackets():
    pieces = (b"[" * MIB for _ in range(1024))
    expect(2, ["validate", "-f", "-"], "stdin: error: line 1, column 513: nested deeper than 512 levels", feed=pieces,
           memory=2600, seconds=60)


@case
def more_than_a_file_may_have():
    path = os.path.join(SCRATCH, "sparse.yaml")
    with open(path, "wb") as file:
        file.truncate(8 << 30)
    expect(2, ["plan", "-f", "sparse.yaml"], "sparse.yaml: error: ", "larger than", memory=200, seconds=3)
    os.unlink(path)
    # Endless, from a device: read up to the limit and no further.
    expect(2, ["plan", "-f", "/dev/zero"], "/dev/zero: error: ", "larger than", memory=2600, seconds=60)


@case
def deep_nesting():
    for name, text in (("deep-flow.yaml", "a: " + "[" * 100_000), ("deep-block.yaml", inputs.staircase(3000)),
                       ("deep-dashes.yaml", "- " * 1_000_000), ("deep-map.yaml", "{a: " * 200_000),
                       ("deep.json", '{"a":' * 100_000), ("deep-closed.json", "[" * 5000 + "]" * 5000),
                       ("deep-keys.yaml", "? " * 100_000)):
        everywhere(2, write(name, text), f"{name}: error: line ", "nested deeper than 512 levels", seconds=10)


@case
def aliases_that_multiply():
    everywhere(2, write("bomb.yaml", inputs.alias_bomb(9, 40)), "bomb.yaml: error: line ", "aliases expand", memory=600)
    everywhere(2, write("merge-bomb.yaml", inputs.merge_bomb(9, 40)), "merge-bomb.yaml: error: line ", memory=600)
    everywhere(2, write("self.yaml", "a: &a [*a]\n"), "self.yaml: error: line 1")
    everywhere(2, write("unknown-alias.yaml", "a: *b\n"), "unknown-alias.yaml: error: line 1")


@case
def long_names_and_values():
    long = "n" * 1_000_000
    everywhere(2, write("long-name.yaml", inputs.pod(long)), "long-name.yaml:1: error: metadata.name")
    everywhere(2, write("long-kind.yaml", inputs.pod("a").replace("kind: Pod", f"kind: {long}", 1)),
               "long-kind.yaml:1: error: kind")
    # A message quotes what is wrong; it does not repeat a megabyte.
    for text in (inputs.pod("a", labels=f"{{a: {long}}}"), inputs.pod("a", labels=f"{{{'x' * 900}: {long}}}"),
                 inputs.pod("a", long), inputs.pod("a", "g", leaf=long),
                 inputs.pod("a", requests=f"{{{'x' * 900}: {long}}}"),
                 inputs.group("g", f"queue: {long}, minMember: 1"),
                 inputs.group("g", f"subGroups: [{{name: {long}, minMember: 1}}]"),
                 inputs.group("g", f"minMember: 1, priorityClassName: {long}"),
                 inputs.group("g", f"minMember: 1, {inputs.within(long, long)}"),
                 inputs.queue("q", "{}", long), inputs.topology("t", [long]),
                 inputs.node("n1", labels=f"{{rack: {long}}}")):
        name = write("long-value.yaml", text + inputs.node("n1"))
        for command in ("plan", "validate"):
            run = sane(Run([command, "-f", name]))
            require(len(run.out + run.err) < 20_000, run, "the message repeats the whole text")


@case
def many_documents_and_keys():
    expect(0, ["validate", "-f", "-"], "0 objects checked", feed=b"---\n" * 300_000, memory=600, seconds=30)
    keys = "".join(f"k{i}: 1\n" for i in range(200_000))
    expect(2, ["validate", "-f", "-"], "stdin", feed=keys.encode(), memory=600)
    expect(2, ["validate", "-f", "-"], "duplicate", feed=(keys + "k7: 2\n").encode(), memory=600)
    # A label that many pods have, and many labels on one pod.
    labels = "{" + ", ".join(f"k{i}: v" for i in range(50_000)) + "}"
    sane(Run(["plan", "-f", "-"], feed=inputs.pod("a", labels=labels).encode()), memory=600)


# Numbers


@case
def quantities_out_of_range():
    for text, said in (("-1", "negative"), ("-0.5", "negative"), ("9223372036854775808", ""), ("1e30", ""),
                       ("10E", ""), ("99999999999999999999Gi", ""),
                       ("abc", ""), ('""', ""), ("1.2.3", ""), ("1e", ""), ("1GiB", ""), ("'1 '", ""), ("[1]", ""),
                       ("{}", ""),
                       ("NaN", ""), ("'.inf'", ""), ("1e999999999", ""), ("'" + "9" * 100_000 + "'", "")):
        pod = inputs.pod("a", requests=f"{{cpu: {text}}}")
        expect(1, ["validate", "-f", write("quantity.yaml", pod)], "quantity.yaml",
               "spec.containers[0].resources.requests", said)
        node = inputs.node("n1", allocatable=f"{{cpu: {text}}}")
        expect(1, ["validate", "-f", write("quantity.yaml", node)], "quantity.yaml", "status.allocatable", said)
        sane(Run(["plan", "-f", write("both.yaml", pod + node)]))


@case
def sums_beyond_64_bits():
    """Each amount fits; their sum over containers, pods or nodes does not."""
    most = "9223372036854775807"
    pod = inputs.pod("a", extra=f"""containers:
  - {{name: one, resources: {{requests: {{memory: '{most}', example.com/x: '{most}'}}}}}}
  - {{name: two, resources: {{requests: {{memory: '{most}', example.com/x: '{most}'}}}}}}""")
    expect(1, ["validate", "-f", write("pod-sum.yaml", pod)], "pod-sum.yaml", "spec.containers")
    amounts = f"{{cpu: '9223372036854775', memory: '{most}', example.com/x: '{most}', pods: '{most}'}}"
    nodes = "".join(inputs.node(f"n{i}", allocatable=amounts) for i in range(50))
    pods = "".join(inputs.pod(f"p{i}", "big", requests=f"{{memory: '{most}', example.com/x: '{most}'}}")
                   for i in range(60))
    queue = inputs.queue("q", "{gpu: {quota: 9000000000000, limit: 9000000000000}, cpu: {quota: 9000000000000}}")
    everything = nodes + pods + queue + inputs.group("big", "queue: q, minMember: 50")
    for output in ("table", "json"):
        run = expect(0, ["plan", "-o", output, "-f", write("sums.yaml", everything)], seconds=30)
    require('"placed"' in run.out.lower() or "Placed" in run.out, run,
            "50 of 60 fit, one on each node")
    # One more than there are nodes cannot be.
    text = everything.replace("minMember: 50", "minMember: 51")
    expect(0, ["plan", "-f", write("sums.yaml", text)], "Blocked", seconds=30)


@case
def counts_out_of_range():
    for value in ("-1", "2147483648", "9223372036854775807", "9223372036854775808", "1e40", "1.5", "'3'", "[]", "true"):
        run = expect(1, ["validate", "-f", write("count.yaml", inputs.group("g", f"minMember: {value}"))],
                     "count.yaml", "spec.minMember")
        sane(Run(["plan", "-f", "count.yaml"]))
        require("(" in run.out, run, "no advice")
    # The largest that is accepted simply waits.
    name = write("count.yaml", inputs.group("g", "minMember: 2147483647") + inputs.pod("p", "g") + inputs.node("n1"))
    expect(0, ["plan", "-f", name], "default/g")
    subs = ", ".join(f"{{name: s{i}, minMember: 2147483647}}" for i in range(20))
    sane(Run(["plan", "-f", write("count.yaml", inputs.group("g", f"subGroups: [{subs}]") + inputs.pod("p", "g",
            leaf="s1") + inputs.node("n1"))]))


# Objects that contradict each other


@case
def parents_in_a_circle():
    for subs in ("[{name: a, parent: a, minMember: 1}]", "[{name: a, parent: b}, {name: b, parent: a}]",
                 "[{name: a, parent: b}, {name: b, parent: c}, {name: c, parent: a}, {name: d, minMember: 1}]",
                 "[{name: a, parent: missing, minMember: 1}]"):
        text = inputs.group("g", f"subGroups: {subs}") + inputs.pod("p", "g", leaf="a") + inputs.node("n1")
        everywhere(1, write("circle.yaml", text), "circle.yaml", "spec.subGroups[0].parent")
    ring = ", ".join(f"{{name: s{i}, parent: s{(i + 1) % 50_000}}}" for i in range(50_000))
    everywhere(1, write("ring.yaml", inputs.group("g", f"subGroups: [{ring}]")), "ring.yaml", memory=600)
    chain = ", ".join(f"{{name: s{i}{f', parent: s{i - 1}' if i else ''}}}" for i in range(50_000))
    everywhere(1, write("chain.yaml", inputs.group("g", f"subGroups: [{chain}]")), "chain.yaml", memory=600)


@case
def queues_in_a_circle():
    text = inputs.node("n1")
    for queue, parent in (("a", "b"), ("b", "a"), ("c", "c"), ("d", "missing")):
        text += inputs.queue(queue, "{}", parent) + inputs.pod(f"p{queue}", f"g{queue}")
        text += inputs.group(f"g{queue}", f"queue: {queue}, minMember: 1")
    sane(Run(["validate", "-f", write("queues.yaml", text)]))
    run = sane(Run(["plan", "-f", "queues.yaml"]))
    require(all(f"default/g{q}" in run.out for q in "abcd"), run, "a group is lost without a word")
    deep = "".join(inputs.queue(f"q{i}", "{}", f"q{i - 1}" if i else None) for i in range(5000))
    deep += inputs.group("g", "queue: q4999, minMember: 1") + inputs.pod("p", "g") + inputs.node("n1")
    sane(Run(["plan", "-f", write("deep-queues.yaml", deep)]), seconds=30)


@case
def the_same_name_twice():
    things = {"Pod": inputs.pod("x"), "Node": inputs.node("x"), "Queue": inputs.queue("x", "{}"),
              "PodGroup": inputs.group("x", "minMember: 1"),
              "Topology": inputs.topology("x", ["a"]), "PriorityClass": inputs.priority("x", 5),
              "PersistentVolume": inputs.volume("x"), "PersistentVolumeClaim": inputs.claim("x")}
    for kind, text in things.items():
        for command in ("validate", "plan"):
            expect(1, [command, "-f", write("twice.yaml", text + text)], "twice.yaml", kind, "duplicate"
                   if command == "validate" else "x")
    expect(1,
           ["validate", "-f",
            write("subs.yaml", inputs.group("g", "subGroups: [{name: a, minMember: 1}, {name: a, minMember: 1}]"))],
           "spec.subGroups[1].name", "duplicate")
    expect(1, ["validate", "-f", write("levels.yaml", inputs.topology("t", ["a", "b", "a"]))], "spec.levels[2]",
           "twice")
    # 50,000 times the same: as many messages, and no more than linear time.
    sane(Run(["validate", "-f", "-"], feed=(inputs.pod("x") * 20_000).encode()), memory=900, seconds=40)


@case
def topologies_that_disagree():
    """Two orders of the same two labels: each topology is right by itself, a group may use one or both."""
    text = inputs.topology("up", ["rack", "zone"]) + inputs.topology("down", ["zone", "rack"])
    text += "".join(inputs.node(f"n{i}", labels=f"{{zone: z{i % 2}, rack: r{i % 3}}}") for i in range(6))
    subs = [f"{{name: a, minMember: 1, {inputs.within('up', 'zone')}}}",
            f"{{name: b, minMember: 1, {inputs.within('down', 'rack')}}}"]
    text += inputs.group("g", f"subGroups: [{', '.join(subs)}]")
    text += inputs.pod("pa", "g", leaf="a") + inputs.pod("pb", "g", leaf="b")
    expect(0, ["plan", "-f", write("orders.yaml", text)], "Placed")
    sub = f"{{name: a, minMember: 1, {inputs.within('down', 'zone')}}}"
    both = inputs.group("h", f"{inputs.within('up', 'rack')}, subGroups: [{sub}]") + inputs.pod("ph", "h", leaf="a")
    run = sane(Run(["plan", "-f", write("orders.yaml", text + both)]))
    require("default/h" in run.out, run, "the group is lost without a word")


@case
def sixteen_levels():
    names = [f"level-{i}" for i in range(16)]
    text = inputs.topology("t", names) + inputs.pod("a", "g") + inputs.pod("b", "g")
    for i in range(64):
        labels = ", ".join(f"{name}: v{i >> (16 - depth)}" for depth, name in enumerate(names))
        text += inputs.node(f"n{i}", labels=f"{{{labels}}}")
    for level in (names[0], names[7], names[15]):
        group = inputs.group("g", f"minMember: 2, {inputs.within('t', level)}")
        run = sane(Run(["plan", "-f", write("levels.yaml", text + group)]))
        require(run.code == 0 and "default/g" in run.out, run, "no answer")
    expect(1, ["validate", "-f", write("levels.yaml", inputs.topology("t", names + ["one-more"]))], "spec.levels", "16")
    expect(1, ["validate", "-f", write("levels.yaml", inputs.topology("t", [f"l{i}" for i in range(100_000)]))],
           "spec.levels", "16")
    expect(1, ["validate", "-f", write("levels.yaml", inputs.topology("t", []))], "spec.levels")


@case
def members_of_nothing():
    """A pod whose group or leaf does not exist is named in the plan, never dropped."""
    text = inputs.node("n1") + inputs.group("g", "subGroups: [{name: a, minMember: 1}]")
    text += inputs.pod("lost-1", "nowhere") + inputs.pod("lost-2", "g") + inputs.pod("lost-3", "g", leaf="b")
    text += inputs.pod("fine", "g", leaf="a")
    run = sane(Run(["plan", "-f", write("lost.yaml", text)]))
    for pod in ("lost-1", "lost-2", "lost-3"):
        require(pod in run.out + run.err, run, f"{pod} is not named")
    many = inputs.node("n1") + "".join(inputs.pod(f"lost-{i}", f"nowhere-{i}") for i in range(5000))
    sane(Run(["plan", "-f", write("lost.yaml", many)]), seconds=30)


@case
def names_that_speak_to_the_terminal():
    for number, text in enumerate((r'"\e[2J\e]0;x\a"', r'"a\r\nforged: error"', '"\u202etxt"', r'"\x9b2J"',
                                   "'{{name}} %s%n'")):
        contents = [inputs.pod(text), inputs.group(text, "minMember: 1") + inputs.pod("p", text), inputs.node(text),
                    inputs.queue(text, "{}"),
                    inputs.topology(text, ["a"]), inputs.topology("t", [text]),
                    inputs.group("g1", f"queue: {text}, minMember: 1"),
                    inputs.group("g2", f"subGroups: [{{name: {text}, minMember: 1}}]"),
                    inputs.pod("a1", labels=f"{{{text}: {text}}}"),
                    inputs.pod("a2", requests=f"{{{text}: {text}}}"),
                    f"apiVersion: v1\nkind: {text}\nmetadata: {{name: a}}\n",
                    f"apiVersion: {text}\nkind: Pod\nmetadata: {{name: a, namespace: {text}}}\n",
                    inputs.node("n1", labels=f"{{rack: {text}}}") + inputs.topology("t2", ["rack"]) + inputs.group(
                        "g3", f"minMember: 9, {inputs.within('t2', 'rack')}") + inputs.pod("p3", "g3")]
        bad = [f"a: &a {text}\n? *a\n: 1\n", f"{text}: [", f"a: *{text}"]
        for index, content in enumerate(contents + bad):
            folder = "good" if content in contents else "bad"
            write(f"terminal-{number}-{folder}/{index}.yaml", content)
        for folder in ("good", "bad"):
            for command in (["validate", "-f"], ["plan", "-f"], ["plan", "-o", "wide", "-f"], ["simulate"]):
                sane(Run([*command, f"terminal-{number}-{folder}"]))
    name = write("terminal\x1b[2J.yaml", "[")
    for command in (["validate", "-f"], ["plan", "-f"], ["simulate"]):
        sane(Run([*command, name]))


# Many


@case
def a_hundred_thousand_subgroups():
    """Ten times the parts may not take much more than ten times as long."""
    seconds = {}
    for count in (10_000, 100_000):
        name = write("parts.yaml", inputs.wide_group(count, pods=count // 10))
        run = expect(0, ["plan", "-f", name], "default/wide", memory=4000, seconds=120)
        seconds[count] = run.seconds
        expect(0, ["validate", "-f", name], "0 errors", memory=4000, seconds=60)
    ratio = seconds[100_000] / seconds[10_000]
    if ratio >= 30:
        raise AssertionError(f"10,000 parts take {seconds[10_000]:.1f} s, ten times as many {ratio:.0f} times as long")


@case
def a_hundred_thousand_nodes():
    name = write("nodes.json", inputs.node_list(100_000))
    group = write("tail.yaml", inputs.topology("t", ["zone", "rack"]) + inputs.group(
        "g", "minMember: 32, topologyConstraint: {topology: t, requiredTopologyLevel: rack}") + "".join(
            inputs.pod(f"p{i}", "g", requests="{cpu: 8}") for i in range(32)))
    expect(0, ["plan", "-f", name, "-f", group], "Placed", memory=4000, seconds=60)


@case
def many_groups_that_cannot_fit():
    """Each refusal is explained; explaining must not cost more than deciding."""
    text = inputs.topology("t", ["zone", "rack"])
    text += "".join(inputs.node(f"n{i}", labels=f"{{zone: z{i % 4}, rack: r{i % 16}}}") for i in range(200))
    for i in range(500):
        text += inputs.group(f"g{i}", f"minMember: 3, {inputs.within('t', 'rack')}")
        text += "".join(inputs.pod(f"g{i}-{j}", f"g{i}", requests=f"{{cpu: {5 + i % 7}}}") for j in range(3))
    expect(0, ["plan", "-f", write("refused.yaml", text)], "500 never", memory=1500, seconds=60)


# Files and streams


@case
def files_that_cannot_be_read():
    for command in (["plan", "-f"], ["validate", "-f"], ["simulate"]):
        expect(2, [*command, "missing.yaml"], "missing.yaml: error: ", "No such file")
        expect(2, [*command, ""], "error")
        write("file.yaml", inputs.small())
        expect(2, [*command, "file.yaml/below"], "file.yaml/below: error: ", "Not a directory")
        os.makedirs(os.path.join(SCRATCH, "none"), exist_ok=True)
        run = sane(Run([*command, "none"]))
        require("none: " in run.err and "no manifests" in run.err, run, "an empty folder goes unnoticed")
        if not os.path.lexists(os.path.join(SCRATCH, "loop.yaml")):
            os.symlink("loop.yaml", os.path.join(SCRATCH, "loop.yaml"))
        expect(2, [*command, "loop.yaml"], "loop.yaml: error: ", "symbolic links")
        expect(2, [*command, "x" * 5000], "error: ", "too long")
    os.makedirs(os.path.join(SCRATCH, "links"), exist_ok=True)
    if not os.path.lexists(os.path.join(SCRATCH, "links", "again")):
        os.symlink(".", os.path.join(SCRATCH, "links", "again"))
    expect(2, ["validate", "-R", "-f", "links"], "nested deeper")
    if os.getuid() != 0:
        os.chmod(os.path.join(SCRATCH, write("secret.yaml", "")), 0)
        expect(2, ["validate", "-f", "secret.yaml"], "secret.yaml: error: ", "Permission denied")


@case
def all_bad_files_are_named_at_once():
    for number in range(5):
        write(f"mixed/{number}.yaml", inputs.pod(f"p{number}") if number % 2 else "[" * number + ": :")
    run = expect(2, ["validate", "-f", "mixed"], "mixed/0.yaml: error: ", "mixed/2.yaml: error: ",
                 "mixed/4.yaml: error: ", "2 objects checked")
    require("mixed/1.yaml" not in run.err, run, "a good file is blamed")


@case
def pipes():
    path = os.path.join(SCRATCH, "pipe.yaml")
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: write("pipe.yaml", inputs.small()))
    writer.start()
    expect(0, ["plan", "-f", "pipe.yaml"], "Placed")
    writer.join()
    writer = threading.Thread(target=lambda: write("pipe.yaml", "{"))
    writer.start()
    expect(2, ["plan", "-f", "pipe.yaml"], "pipe.yaml: error: ")
    writer.join()
    require(stat.S_ISFIFO(os.stat(path).st_mode), "", "the pipe was replaced")
    os.unlink(path)


@case
def closed_streams():
    expect(2, ["plan", "-f", "-"], "stdin: error: ", stdin=None, preexec_fn=lambda: os.close(0))
    expect(0, ["plan", "-f", "-", "-f", "-"], "Placed", feed=inputs.small().encode())
    run = Run(["plan", "-f", EXAMPLE], preexec_fn=lambda: os.close(1))
    require(run.code == 2 and "cannot write" in run.err, run, "a closed output looks like success")
    run = Run(["plan", "-f", EXAMPLE], preexec_fn=lambda: os.close(2))
    require(run.code == 0 and "Placed" in run.out, run, "a closed standard error changes the plan")
    # What is opened must not land on a closed standard error and be written into.
    content = inputs.pod("a", requests="{cpu: -1}")
    Run(["validate", "-f", write("kept.yaml", content)], preexec_fn=lambda: (os.close(0), os.close(1), os.close(2)))
    with open(os.path.join(SCRATCH, "kept.yaml"), encoding="utf-8") as file:
        if file.read() != content:
            raise AssertionError("the input file was written to")


@case
def output_that_does_not_arrive():
    for args in (["plan", "-f", EXAMPLE], ["plan", "-o", "json", "-f", EXAMPLE], ["validate", "-f", EXAMPLE],
                 ["help"], ["--version"],
                 ["completion", "bash"], ["simulate", os.path.join(ROOT, "test", "scenarios", "two-racks.yaml")]):
        with open("/dev/full", "wb") as full:
            run = Run(args, stdout=full)
            require(run.code == 2 and "cannot write the output" in run.err, run, "a full disk looks like success")
    # A reader that has seen enough: no complaint that looks like an error of ours, no hanging.
    name = write("long.yaml", inputs.node("n1") + "".join(inputs.group(f"g{i}", "minMember: 1") + inputs.pod(f"p{i}",
            f"g{i}") for i in range(3000)))
    command = f"'{PLATOON}' plan -o wide -f {name} | head -1; echo ${{PIPESTATUS[*]}}"
    done = subprocess.run(["bash", "-c", command], cwd=SCRATCH, env=ENVIRONMENT, capture_output=True, text=True,
                          timeout=60, check=False)
    lines = done.stdout.splitlines()
    if not lines[0].startswith("GROUP") or lines[1] not in ("141 0", "2 0") or "Sanitizer" in done.stderr:
        raise AssertionError(f"cut off by head: {done.stdout}{done.stderr}")


@case
def odd_command_lines():
    for args in ([], ["plan"], ["plan", "-f"], ["plan", "--file", EXAMPLE, "--no-such"],
                 ["plan", "-f", EXAMPLE, "-o", "xml"], ["plan", "-o"],
                 ["plan", "-f", EXAMPLE, "--budget", "-1"], ["plan", "-f", EXAMPLE, "--budget", "99999999999999999999"],
                 ["plan", "-f", EXAMPLE, "--budget", "1x"], ["plan", "-f", EXAMPLE, "--budget", "0"],
                 ["plan", "-f", EXAMPLE, "--budget", ""], ["plan", "-f", EXAMPLE, "--actions", "fly"],
                 ["plan", "-f", EXAMPLE, "--actions", ",,,"], ["plan", "-f", EXAMPLE, "extra"], ["frobnicate"],
                 ["--no-such"], ["-x"], [""],
                 ["completion", "tcsh"], ["completion"], ["help", "nothing"], ["\x1b[2J"], ["plan", "\x1b[2J"],
                 ["plan", "--\x1b[2J"],
                 ["plan", "-f", EXAMPLE, "-o", "\x1b[2J"], ["help", "\x1b[2J"], ["x" * 100_000]):
        run = expect(2, args)
        require("platoon" in run.err and len(run.err) < 5000, run, "no help, or too much")
    expect(0, ["plan", "-f", EXAMPLE, "--budget", "1"])
    expect(0, ["plan", "-f", EXAMPLE, "--budget", "9223372036854775807"])
    expect(0, ["plan"] + ["-f", EXAMPLE])
    expect(2, ["validate"] + ["-f", "missing.yaml"] * 5000, "missing.yaml", seconds=30)


def main():
    chosen = [function for function in CASES if ONLY in function.__name__]
    failed = 0
    for function in chosen:
        started = time.monotonic()
        try:
            function()
        except Exception as error:  # a test that breaks is a failed test, whatever broke it
            failed += 1
            print(f"FAIL {function.__name__}: {type(error).__name__}: {error}")
        if ONLY:
            print(f"     {function.__name__}: {time.monotonic() - started:.1f} s")
        sys.stdout.flush()
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
