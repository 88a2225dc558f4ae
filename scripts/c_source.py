"""Reads C just well enough for the check scripts: no preprocessor, no types, no headers.

Conditional code is read as if every branch were there, and a macro as if it were what it looks like.
"""
import re

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.M | re.S)
NOT_A_CALL = {"if", "for", "while", "switch", "return", "sizeof", "_Alignof", "__attribute__", "_Static_assert",
              "static_assert", "typeof", "__typeof__"}


def blank(text):
    """As many lines, and nothing on them."""
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The text with comments blanked and literals emptied; every line keeps its number."""
    def replace(match):
        token = match.group(0)
        if token.startswith("/"):
            return blank(token)
        return token[0] + " " * (len(token) - 2) + token[-1]
    return TOKEN.sub(replace, text)


def without_directives(text):
    return DIRECTIVE.sub(lambda match: blank(match.group(0)), text)


def closing(text, at):
    """Where the bracket at `at` closes; the end of the text when it does not."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "{[(":
            depth += 1
        elif text[i] in "}])":
            depth -= 1
            if depth == 0:
                return i
    return len(text) - 1


def statements(text):
    """(offset, head, body) of everything at file scope. `head` is the text up to ; or to the body of a function,
    with what stands in braces left out; `body` is (start, end) for a function and None for the rest."""
    at, start, head = 0, 0, ""
    while at < len(text):
        character = text[at]
        if character == "{":
            end = closing(text, at)
            if is_function(head):
                yield start, head, (at, end)
                head = ""
            else:
                head += "{}"
            at = end
        elif character == ";":
            yield start, head, None
            head = ""
        elif character == "(":
            end = closing(text, at)
            head += text[at:end + 1]
            at = end
        else:
            if not head.strip():
                head, start = "", at
            head += character
        at += 1


def strip_attributes(text):
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)", " ", text)
    return re.sub(r"\b(?:inline|_Noreturn|noreturn|volatile)\b", " ", text)


def is_function(head):
    """Whether what stands before a brace at file scope begins a function."""
    head = strip_attributes(head).rstrip()
    return head.endswith(")") and "=" not in head


def own_functions(text):
    """Names of the functions that this file defines or declares itself, and of its pointers to functions."""
    names = set(re.findall(r"\(\s*\*\s*(\w+)\s*\)\s*\(", text))
    for _, head, _ in statements(without_directives(text)):
        match = re.match(r"[^=]*?\b(\w+)\s*\(", strip_attributes(head), re.S)
        if match and match.group(1) not in NOT_A_CALL and re.search(r"\w\s+\**\s*$", head[:head.find(match.group(1))]):
            names.add(match.group(1))
    return names


def declared_name(declaration):
    """(name, is it constant) of a variable's declaration without its initializer; None when it declares none."""
    declaration = re.sub(r"\[[^\]]*\]", " ", strip_attributes(declaration)).strip()
    pointer = re.match(r"[^(]*\(\s*\*([^()]*)\)\s*\(", declaration)  # to a function
    if pointer:
        words = re.findall(r"\w+", pointer.group(1))
        return (words[-1], "const" in words) if words else None
    if "(" in declaration:
        return None
    words = re.findall(r"\w+|\*|\{\}", declaration)
    if not words or words[-1] in ("{}", "*") or len(words) < 2:
        return None
    if words[-2] in ("struct", "union", "enum") or words[0] in ("typedef", "extern"):
        return None
    stars = [i for i, word in enumerate(words) if word == "*"]
    return words[-1], "const" in (words[stars[-1]:] if stars else words)


def declarators(head):
    """Each variable that one declaration declares, as a declaration of its own without initializer."""
    first, *more = split_commas(head)
    yield first.split("=")[0]
    base = re.match(r"\s*((?:static|const|volatile|_Thread_local|struct|union|enum|unsigned|signed|long|short|\w+)\s+)*", first)
    for declarator in more:
        yield (base.group(0) if base else "int ") + declarator.split("=")[0]


def split_commas(text):
    parts, depth, last = [], 0, 0
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    return parts + [text[last:]]


def mutable_variables(text, is_header):
    """(line, name) of variables that outlive a call and are not constant: at file scope and `static` in functions.
    `text` is without comments. In a header "type name;" declares a function, as the linker wants no variable there."""
    text = without_directives(text)
    for start, head, body in statements(text):
        if body is None:
            if not is_header or "static" in head or "=" in head:
                yield from mutable_in(text, start, head)
            continue
        inside = text[body[0] + 1:body[1]]
        for match in re.finditer(r"(?<!\w)(?:static|_Thread_local)\b[^;{=]*(?:\{|=|;)", inside):
            end = match.end()
            declaration, at = match.group(0), body[0] + 1 + match.start()
            while not declaration.endswith(";") and end < len(inside):
                if declaration.endswith("{"):
                    end = closing(inside, end - 1) + 1
                    declaration += "}"
                else:
                    declaration += inside[end]
                    end += 1
            yield from mutable_in(text, at, declaration.rstrip(";"))


def mutable_in(text, start, declaration):
    if declaration.lstrip().startswith(("typedef", "extern")):
        return
    for declarator in declarators(declaration):
        found = declared_name(declarator)
        if found and not found[1]:
            yield text.count("\n", 0, start) + 1, found[0]
