r"""The answer in a language model's reply: strict, so that no reply is rewarded for listing numbers.

`extract_answer` gives the integer that a reply commits itself to, as digits, or None:

1. What stands before `</think>` (or the like) is thought, not reply. A thought that never ends leaves no reply.
2. Explicit answers are `<answer>42</answer>`, `\boxed{42}`, `[ANSWER]42[/ANSWER]`, a fenced block that holds only the
   integer, `#### 42`, and a statement: "the answer is 42", "Answer: 42", "The output is 42", "prints 42", and the same
   in some other languages. All explicit answers must be the same integer, and so must all lines that hold only numbers.
   A tag or a box that holds anything else, or is never closed, makes the reply count as none.
3. Without an explicit answer, the reply must hold a single integer (repeated or not) and no other number. A fenced
   block with a program in it is the question again and is left out.
4. No number other than the answer may follow the answer: explain first, answer last.
5. A hedge counts as none: "or", "either" and their like in the sentence of the answer; "maybe", "might be", "not sure"
   from that sentence on; "wait", "wrong" after the answer; "about 42", "at least 42", "not 42", "42?".

An integer may have a sign (also the Unicode minus), thousands separators (comma, underscore, apostrophe, thin or
no-break space; in an explicit answer a space) and a final full stop. Leading zeros are kept: strings of digits are
answers, too. Decimals, fractions, percentages, exponents and number words are not integers.

>>> extract_answer("17+25 = 42, so the answer is **42**.")
'42'
>>> extract_answer("\\boxed{-137{,}040}"), extract_answer("<answer>137040</answer>"), extract_answer(" 137,040\n")
('-137040', '137040', '137040')
>>> extract_answer("The answer is 41 or 42."), extract_answer("40 41 42 43"), extract_answer("I cannot run code.")
(None, None, None)
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 1_000_000  # characters of a reply that is read

# Text ----------------------------------------------------------------------------------------------------------------

_THOUGHT = "think|thinking|thought|reasoning|scratchpad"
_THOUGHT_ENDS = re.compile(rf"</(?:{_THOUGHT})>|\[/THINK\]|<\|channel\|>final<\|message\|>", re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(rf"<(?:{_THOUGHT})>|\[THINK\]|<\|channel\|>analysis", re.IGNORECASE)
_TOKENS = re.compile(r"<\|[a-z_]{1,30}\|>|</?s>|<eos>|</?(?:b|i|p|em|br|pre|code|span|strong)\s*/?>", re.IGNORECASE)
_MARKUP = re.compile(r"\*{2,3}|__|`|\$|\\[()\[\]]|\\(?:text|textbf|mathbf|mathrm)(?=\{)")
_LATEX = {"{,}": ",", "\\,": "\u2009", "\\!": "", "\\;": " ", "\\ ": " "}
_SIGNS = str.maketrans(dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\uff0d\ufe63", "-") | {"\uff0b": "+"})
_SPACES = re.compile(r"\s{4,}")
_FENCE = re.compile(r"```[^\n`]*\n([^`]*)```")
_PROGRAM = re.compile(r"\bprint *\(")

# Numbers -------------------------------------------------------------------------------------------------------------

_SEPARATORS = ",_'\u2019\u2009\u202f\u00a0"
_GROUPED = "|".join(rf"[0-9]{{1,3}}(?:{separator}[0-9]{{3}})+" for separator in _SEPARATORS)
# Neither part of a word or of a longer number, nor an operand.
_BEFORE = r"(?<![A-Za-z0-9_.,\\/^+*-])"
_AFTER = (
    r"(?![A-Za-z0-9_%^+*²³°]|[-/.,:'\u2019\u2009\u202f\u00a0][0-9]|\.\.|"
    r"[ \t]*(?:[=*/+^±\u00d7÷≤≥?%]|<(?![/|a-z])|>)|[ \t]+-[ \t])"
)
_INTEGER = rf"{_BEFORE}[+-]?(?:{_GROUPED}|[0-9]+){_AFTER}"
_SPACED = rf"{_BEFORE}[+-]?[0-9]{{1,3}}(?: [0-9]{{3}})+(?! ?[0-9]){_AFTER}"
_NUMBER = re.compile(_INTEGER)
_ONLY = re.compile(rf"\s*({_SPACED}|{_INTEGER})\.?\s*")
_NOT_JUST = re.compile(  # before a number
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|over|under|not|never|minus|negative|than|least|"
    r"most|between|beyond|circa)|[~≈≠<>≤≥±≅])[\s\"'(]*\Z|(?:^|[\n:\s])-\s+\Z",
    re.IGNORECASE,
)

# Words ---------------------------------------------------------------------------------------------------------------

_SENTENCE_ENDS = re.compile(r"[.!?](?=\s)|[\n\u3002\uff01\uff1f]")
_OR = re.compile(
    r"\b(?:or|either|nor|vs|versus|else|otherwise|unless|rather|instead|is not|isn['\u2019]t|oder|entweder|ou|soit|"
    r"oppure|или|либо)\b|[0-9][\s,]+[oyueи]\s|或|还是|または|もしくは|또는",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|alternatively|might|may be|could(?: also)? be|can also be|"
    r"not sure|unsure|uncertain|not certain|unclear|one of|any of|then again|second guess|vielleicht|möglicherweise|"
    r"wahrscheinlich|peut-être|probablement|quizás?|tal vez|probablemente|forse|talvez|provavelmente|возможно|"
    r"может быть|наверное)\b|也许|可能|大概|かもしれ|たぶん|おそらく|아마",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"\b(?:wait|oops|scratch that|wrong|incorrect|not correct|not right|not the (?:answer|output)|second thought|"
    r"mistake|no longer|let me (?:re|double)-?check|falsch|incorrecto?|faux|неверно)\b|不对|错了|違い",
    re.IGNORECASE,
)

# Explicit answers ----------------------------------------------------------------------------------------------------

_TAG = re.compile(r"<(/?)\s*(?:answer|final_answer|final|output|result)\s*>|\[(/?)ANSWER\]", re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_LONGEST_BOX = 1_000
_NAMES = (
    r"\b(?:answer|output|final (?:result|value|number)|printed value|Antwort|Ausgabe|respuesta|salida|réponse|sortie|"
    r"risposta|resposta|saída|ответ|odpowiedź|antwoord|cevap)|答案|输出|答え|出力|답|उत्तर"
)
_OF = r"(?:\s+(?:to|of|for|from|in|del|de|des|du|der)\b[^.!?\n:=0-9]{0,60}?)?"
_IS = (
    r"(?:is|was|will be|would be|should be|must be|equals|ist|lautet|es|est|è|é|jest|это|은|는|は|是|为|है|=>|->|→|"
    r"[:=\uff1a])"
)
_THUS = r"(?:therefore|thus|hence|then|simply|just|exactly|indeed|equal to|the (?:number|integer|value))\b"
_PRINTS = r"\b(?:prints?|outputs?|displays?|imprime|affiche|stampa|выводит|gibt)(?: out)?(?! ?\()"
_STATEMENT = re.compile(
    rf"(?:(?:{_NAMES})[\"'\u201d]?{_OF}\s*{_IS}(?:[\s,:]*{_THUS})*\s*:?|{_PRINTS}(?:\s+{_THUS})?\s*:?)"
    rf"[\s\"'\u201c\u2018\u00ab({{\[]*(?:[A-Za-z_][A-Za-z_0-9]{{0,20}} ?= ?)?(?:({_SPACED}|{_INTEGER})|[+-]?[0-9])"
    rf"|^[ \t]*\#{{2,6}}[ \t]*({_INTEGER})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_BARE_LINE = re.compile(
    r"^(?![ ]*\|)(?=[^\n0-9]*[0-9])(?:[0-9,;.?:/&~|\\ \t_'+()\[\]-]|\b(?:or|and|vs|to|no|but|else|either|maybe)\b)+$",
    re.MULTILINE | re.IGNORECASE,
)
_OTHER = ""  # the value of what holds digits and is no integer


class _Explicit(NamedTuple):
    """An explicit answer: where it stands and its integer; None if it holds no digit."""

    start: int
    end: int
    value: str | None


def extract_answer(text: str | None) -> str | None:
    """The integer that a reply commits itself to; None if there is none, or more than one."""
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    reply = _THOUGHT_ENDS.split(text)[-1]
    if _THOUGHT_BEGINS.search(reply):
        return None
    tagged = _boxes_as_tags(_fences_as_tags(_plain(_TOKENS.sub(" ", reply))))
    if tagged is None:
        return None
    tagged = _MARKUP.sub(" ", tagged)
    closed = _closed(tagged)
    if closed is None:
        return None
    bare = _TAG.sub(lambda tag: " " * len(tag[0]), tagged)
    found = sorted([*closed, *_stated(bare)])
    if not found:
        return _lone(bare)
    values = {each.value for each in found} - {None} | {_content(line[0]) for line in _BARE_LINE.finditer(bare)}
    value, last = found[-1].value, found[-1]
    if not value or len(values) != 1 or _hedged(bare, last.start, last.end):
        return None
    return value if _numbers(bare[last.end :]) <= {value} else None


def _plain(text: str) -> str:
    """Digits and signs of other scripts as ASCII, LaTeX's spacing as characters, no long runs of spaces."""
    text = _SPACES.sub(lambda run: "\n\n" if "\n" in run[0] else "  ", text)
    for latex, character in _LATEX.items():
        text = text.replace(latex, character)
    text = text.translate(_SIGNS)
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text)


def _fences_as_tags(text: str) -> str:
    """Fenced blocks as answers' tags if one of them holds only an integer; blocks with a program are left out."""
    answers = any(_ONLY.fullmatch(fence[1]) for fence in _FENCE.finditer(text))

    def rewrite(fence: re.Match[str]) -> str:
        if _PROGRAM.search(fence[1]):
            return "\n\n"
        return f"\n<answer>{fence[1]}</answer>\n" if answers else f"\n{fence[1]}\n"

    return _FENCE.sub(rewrite, text)


def _boxes_as_tags(text: str) -> str | None:
    """LaTeX's boxes as answers' tags; None if one is not closed."""
    parts, done = [], 0
    for box in _BOX.finditer(text):
        if box.start() < done:
            continue
        depth, end = 1, box.end()
        while depth and end < min(len(text), box.end() + _LONGEST_BOX):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        if depth:
            return None
        parts += [text[done : box.start()], "<answer>", text[box.end() : end - 1], "</answer>"]
        done = end
    return "".join([*parts, text[done:]])


def _closed(text: str) -> list[_Explicit] | None:
    """What stands in tags; None if the last one is not closed."""
    found: list[_Explicit] = []
    begin: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if tag[1] or tag[2]:  # a closing one; one too many is ignored
            if begin is not None:
                content = _TAG.sub(" ", text[begin.end() : tag.start()])
                found.append(_Explicit(begin.start(), tag.end(), _content(content)))
            begin = None
        elif begin is None or text[begin.end() : tag.start()].strip():  # else a tag in a tag
            begin = tag
    return None if begin is not None else found


def _content(text: str) -> str | None:
    """The integer in a tag; None if there is no digit."""
    if only := _ONLY.fullmatch(text):
        return _canonical(only[1])
    if not any(character.isdigit() for character in text):
        return None
    return _lone(text) or _OTHER


def _stated(text: str) -> Iterator[_Explicit]:
    """Statements of the answer."""
    for statement in _STATEMENT.finditer(text):
        number = statement[1] or statement[2]
        yield _Explicit(statement.start(), statement.end(), _canonical(number) if number else _OTHER)


def _lone(text: str) -> str | None:
    """The only integer of a text without a hedge."""
    numbers = _numbers(text)
    if len(numbers) != 1 or any(words.search(text) for words in (_OR, _HEDGE, _TAKEN_BACK)):
        return None
    return numbers.pop() or None


def _numbers(text: str) -> set[str]:
    """The numbers in a text; all that are no integers count as one other."""
    values, rest, done = set(), [], 0
    for number in _NUMBER.finditer(text):
        vague = _NOT_JUST.search(text[max(0, number.start() - 20) : number.start()])
        values.add(_OTHER if vague else _canonical(number[0]))
        rest.append(text[done : number.start()])
        done = number.end()
    if any(each.isnumeric() for part in (*rest, text[done:]) for each in part if not each.isalpha()):
        values.add(_OTHER)
    return values


def _hedged(text: str, start: int, end: int) -> bool:
    """Whether the sentence of an answer offers alternatives, or it or what follows doubts the answer."""
    begin = max((mark.end() for mark in _SENTENCE_ENDS.finditer(text, 0, start)), default=0)
    close = _SENTENCE_ENDS.search(text, end)
    sentence = text[begin : close.start() if close else None]
    return bool(_OR.search(sentence) or _HEDGE.search(text[begin:]) or _TAKEN_BACK.search(text[end:]))


def _canonical(number: str) -> str:
    """An integer without separators and plus sign."""
    return re.sub(rf"[+ {_SEPARATORS}]", "", number)
