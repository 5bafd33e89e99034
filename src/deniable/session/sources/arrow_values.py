"""Frames as Arrow, in which no value can stop the engine.

What the engine's own readers fail at, or look at values for, is settled before, column by column:

    moments     lose their zone, which is UTC underneath
    text        whose bytes are not UTF-8 is missing
    objects     are text as Python writes them, equal numbers alike, and True as 1;
                those that it cannot write are missing
    the rest    that the engine has no type for, or only for some values, is text
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from numbers import Complex, Integral, Number, Rational, Real
from typing import Any, Final

from deniable.forms import LONGEST, attempted, decimal_places, is_missing

# How objects that are not values are written.
_NOTHING: Final = frozenset({"None", "nan", "NaN", "NaT", "<NA>"})


def settled(frame: Any) -> Any:
    """An Arrow table, or what Arrow can scan, as an Arrow table or a stream."""
    import pyarrow as pa

    if hasattr(frame, "scanner"):
        frame = frame.scanner()
    if hasattr(frame, "to_reader") and not hasattr(frame, "columns"):
        frame = frame.to_reader()
    if not hasattr(frame, "read_next_batch"):
        return _table(pa, frame)
    schema = _table(pa, frame.schema.empty_table()).schema
    made = (batch for each in frame for batch in _table(pa, each).to_batches())
    return pa.RecordBatchReader.from_batches(schema, made)


def _table(pa: Any, table: Any) -> Any:
    columns = [settled_column(pa, column) for column in table.columns]
    return pa.table(columns, names=table.schema.names)


# ---- Arrow


def settled_column(pa: Any, column: Any) -> Any:
    """In a type that depends on the column's type alone, as one row must not change all others."""
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        return _dictionary(pa, column)
    if types.is_timestamp(kind):
        return column.cast(pa.timestamp(kind.unit))
    if _is_text(pa, kind):
        return pa.chunked_array([_utf8(pa, chunk) for chunk in _chunks(column)], type=kind)
    if types.is_float16(kind):
        return column.cast(pa.float32())
    if types.is_duration(kind) or types.is_time(kind) or types.is_decimal256(kind):
        return column.cast(pa.string())
    odd = types.is_nested(kind) or types.is_run_end_encoded(kind) or types.is_interval(kind)
    if odd or (isinstance(kind, pa.BaseExtensionType) and kind.extension_name != "arrow.uuid"):
        return texts(pa, _values(column))
    return column


def _chunks(column: Any) -> list[Any]:
    return list(column.chunks) if hasattr(column, "chunks") else [column]


def _is_text(pa: Any, kind: Any) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _dictionary(pa: Any, column: Any) -> Any:
    """Texts stay a dictionary; all else is written out."""
    value = column.type.value_type
    if not _is_text(pa, value):
        plain = [chunk.dictionary_decode() for chunk in _chunks(column)]
        return settled_column(pa, pa.chunked_array(plain, type=value))
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, _utf8(pa, chunk.dictionary))
        for chunk in _chunks(column)
    ]
    return pa.chunked_array(chunks, type=pa.dictionary(column.type.index_type, value))


def _utf8(pa: Any, texts: Any) -> Any:
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        view = pa.types.is_string_view(texts.type)
        held = texts.cast(pa.binary_view() if view else pa.large_binary())
        return pa.array([_decoded(value) for value in held.to_pylist()], texts.type)
    return texts


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _values(column: Any) -> Iterator[object]:
    for value in column:
        try:
            yield value.as_py()
        except (ValueError, OverflowError):
            yield None


# ---- Python's objects


def texts(pa: Any, values: Iterable[object]) -> Any:
    """Objects as Python writes them."""
    listed = list(values)
    if set(map(type, listed)) <= {str, float, type(None)}:
        try:
            return pa.array(listed, pa.large_string(), from_pandas=True)
        except (pa.ArrowException, UnicodeEncodeError):  # a number, or half a character
            pass
    return pa.array([_text(value) for value in listed], pa.large_string())


def _text(value: object) -> str | None:
    r"""As Python writes it; numbers and moments that are equal are written alike.

    >>> [_text(value) for value in (1, 1.0, Decimal("1.00"), Fraction(1), Decimal(2**70), 2.0**70)]
    ['1', '1', '1', '1', '1180591620717411303424', '1180591620717411303424']
    >>> [_text(value) for value in ("a", 1, 0.1, True, None, float("nan"), "\udc80", 10**5000)]
    ['a', '1', '0.1', '1', None, None, None, None]
    """
    return attempted(_written, value, otherwise=None)


def _written(value: object) -> str | None:
    if isinstance(value, str):
        text = str.__str__(value)
    elif isinstance(value, Number):
        return _number(value)
    elif type(value).__name__ in ("bool", "bool_"):  # NumPy's, which is not a number
        return _number(bool(value))
    else:
        text = str(_in_utc(value) if isinstance(value, dt.datetime) else value)
    text.encode()  # fails for half a character
    return None if text in _NOTHING and not isinstance(value, str) else text


def _in_utc(moment: dt.datetime) -> dt.datetime:
    return moment if moment.utcoffset() is None else moment.astimezone(dt.UTC)


def _number(value: Any) -> str | None:
    """One text for each number, whatever its type: that of the float that equals it, if one does.

    A fraction that no float equals is a decimal with one 0 more than it needs, because 0.1 is the
    text of the float nearest to it. What is neither is missing, as are numbers too long to write.

    >>> [_number(each) for each in (0.5, Decimal("0.50"), Fraction(1, 2))]
    ['0.5', '0.5', '0.5']
    >>> [_number(each) for each in (0.1, Decimal("0.1"), Decimal("0.100"), Fraction(1, 10))]
    ['0.1', '0.10', '0.10', '0.10']
    >>> [_number(each) for each in (Fraction(1, 3), 1 + 0j, Decimal("1E+99999"), math.inf)]
    [None, None, None, 'inf']
    """
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > LONGEST:
        return None
    if isinstance(value, Complex) and not isinstance(value, Real):
        return None
    if is_missing(value):
        return None
    if abs(value) == math.inf:
        return str(float(value))
    if isinstance(value, Integral):
        return str(int(value))
    exact = Fraction(value) if isinstance(value, Decimal | Rational) else _fraction(value)
    if exact.denominator == 1:
        return str(exact.numerator)
    near = float(exact)
    if Fraction(near) == exact:
        return repr(near)
    return _decimal(exact)


def _fraction(value: Any) -> Fraction:
    return Fraction(*map(int, value.as_integer_ratio()))


def _decimal(exact: Fraction) -> str | None:
    """The digits of a fraction whose denominator divides a power of ten, and one 0."""
    places = decimal_places(exact)
    if places is None:
        return None
    digits = str(abs(exact.numerator) * 10**places // exact.denominator).rjust(places + 1, "0")
    sign = "-" if exact < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}0"
