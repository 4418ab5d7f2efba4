"""Strings for `format`: right ones, and wrong ones that look right. The judge has the last word.

From RFC 3339 (dates, durations), 5321 (mail), 1123 (host names), 4291 (IPv6), 4122 (UUID), 3986 and
3987 (URI, IRI), 6570 (templates) and 6901 (JSON Pointer).
"""

from __future__ import annotations

VALID: dict[str, tuple[str, ...]] = {
    "date": ("2024-02-29", "1999-12-31", "0001-01-01"),
    "time": ("23:59:59Z", "00:00:00+05:30", "12:30:00.123Z", "12:00:00z"),
    "date-time": (
        "2024-02-29T12:30:00Z",
        "1999-12-31T23:59:59.123+02:00",
        "2024-02-29t12:30:00z",
    ),
    "duration": ("P3D", "PT1H30M", "P1Y2M3DT4H5M6S", "P2W"),
    "email": ("ab@example.com", "a@b.co", "first.last@mail.example.org", "a+b@c.d", "x@d-e.f.com"),
    "idn-email": ("ab@example.com", "a@b.co", "é@example.com"),
    "hostname": ("example.com", "a-b.example", "localhost", "A.example.com"),
    "idn-hostname": ("example.com", "bücher.example"),
    "ipv4": ("127.0.0.1", "255.255.255.255", "0.0.0.0"),  # noqa: S104 - a sample, nothing binds it
    "ipv6": ("::1", "2001:db8:0:0:0:0:0:1", "::", "::ffff:1.2.3.4", "::FFFF:1.2.3.4"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"),
    "uri": ("https://example.com/a?b=c#d", "urn:isbn:0451450523", "s3://bucket/key"),
    "uri-reference": ("a/b", "#frag", "https://example.com/a", ""),
    "iri": ("https://example.com/ä", "urn:isbn:0451450523"),
    "iri-reference": ("a/ä", "#frag", ""),
    "uri-template": ("/items/{id}", "https://example.com/{?q,lang}", ""),
    "json-pointer": ("", "/a~0b/0", "/a~1b"),
    "relative-json-pointer": ("0", "1/a", "2#"),
    "regex": ("^a+$", "[a-z]{2}", ""),
}

INVALID: dict[str, tuple[str, ...]] = {
    "date": ("2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "24-01-01", "2024-1-1",
             "2024-01-01T00:00:00Z", "20240101"),
    "time": ("24:00:00Z", "12:60:00Z", "12:00:60Z", "12:00", "12:00:00", "1:00:00Z"),
    "date-time": ("2024-02-30T00:00:00Z", "2024-01-01T25:00:00Z", "2024-01-01", "12:00:00Z",
                  "2024-01-01T00:00:00", "2024-01-01 00:00:00Z"),
    "duration": ("P", "PT", "1D", "P1D2H", "PT1D", "P1W2D"),
    "email": ("a", "a.example.com", "@", "a@", "@a", "a b@c.de", "a@b@c.de"),
    "idn-email": ("a", "a.example.com"),
    "hostname": ("-a.example", "a-.example", "a..b", "a_b", "a b", "x" * 64 + ".example"),
    "idn-hostname": ("-a.example", "a..b", "a b"),
    "ipv4": ("256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.a", "0x7f.0.0.1"),
    "ipv6": (":::", "1::2::3", "12345::", "1:2:3:4:5:6:7", "::1.2.3.256", "g::1", "1.2.3.4"),
    "uuid": ("123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400",
             "123e4567-e89b-12d3-a456-42661417400g", "{123e4567-e89b-12d3-a456-426614174000}"),
    "uri": ("a/b", "//example.com", "http://a b", "://x", "1http://x"),
    "uri-reference": ("a b", "http://[", "%zz"),
    "iri": ("a/b", "http://a b"),
    "iri-reference": ("a b", "\\a"),
    "uri-template": ("/items/{id", "/items/}id{"),
    "json-pointer": ("a", "/a~", "/a~2", "#/a"),
    "relative-json-pointer": ("", "-1", "a", "01", "/a"),
    "regex": ("(", "[", "*", "a{2,1}", "\\"),
}  # fmt: skip
