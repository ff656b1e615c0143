#!/usr/bin/env python3
"""Reads a BLMF filter file: prints what it says of itself, and answers for items.

    blmf.py FILE                      what the file says
    blmf.py FILE --item TEXT ...      asks for items given as text (UTF-8)
    blmf.py FILE --hex                asks for items read from standard input, a line of hex each

Written from docs/FORMAT.md alone, without a look at the Rust reader and without any package: it
proves that the document is enough. Slow (about 2 MB a second); for large files use the real one.
Hashes: xxh3-128 and xxHash64 as their public specification has them.
"""

import argparse
import struct
import sys

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1


class Refused(Exception):
    pass


def need(condition, why):
    if not condition:
        raise Refused(why)


# --- CRC32C ---------------------------------------------------------------------------------


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC = crc_table()


def crc32c(*parts):
    crc = M32
    for part in parts:
        for byte in part:
            crc = CRC[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ M32


# --- xxHash ---------------------------------------------------------------------------------

P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def r32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def r64(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def swap32(x):
    return int.from_bytes(x.to_bytes(4, "little"), "big")


def swap64(x):
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def rotl(x, n):
    return (x << n | x >> 64 - n) & M64


def fold(a, b):
    wide = a * b
    return wide & M64 ^ wide >> 64


def avalanche64(h):
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


def avalanche3(h):
    h = (h ^ h >> 37) * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def xxh64(data, seed=0):
    def step(acc, lane):
        return rotl((acc + lane * P2) & M64, 31) * P1 & M64

    at, n = 0, len(data)
    if n >= 32:
        v = [(seed + P1 + P2) & M64, (seed + P2) & M64, seed, (seed - P1) & M64]
        while at + 32 <= n:
            v = [step(acc, r64(data, at + 8 * i)) for i, acc in enumerate(v)]
            at += 32
        h = sum(rotl(acc, by) for acc, by in zip(v, (1, 7, 12, 18))) & M64
        for acc in v:
            h = ((h ^ step(0, acc)) * P1 + P4) & M64
    else:
        h = (seed + P5) & M64
    h = (h + n) & M64
    while at + 8 <= n:
        h = (rotl(h ^ step(0, r64(data, at)), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= n:
        h = (rotl(h ^ r32(data, at) * P1 & M64, 23) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * P5 & M64, 11) * P1 & M64
    return avalanche64(h)


def xxh3_128(data, seed):
    """(lo, hi) of XXH3 with 128 bits."""
    n = len(data)
    if n <= 16:
        return xxh3_short(data, n, seed)
    if n > 240:
        return xxh3_long(data, n, seed)
    lo, hi = n * P1 & M64, 0

    def mix16(at, secret, seed):
        a = r64(data, at) ^ (r64(SECRET, secret) + seed) & M64
        return fold(a, r64(data, at + 8) ^ (r64(SECRET, secret + 8) - seed) & M64)

    def mix32(one, two, secret, seed=seed):
        nonlocal lo, hi
        lo = (lo + mix16(one, secret, seed)) & M64
        lo ^= (r64(data, two) + r64(data, two + 8)) & M64
        hi = (hi + mix16(two, secret + 16, seed)) & M64
        hi ^= (r64(data, one) + r64(data, one + 8)) & M64

    if n <= 128:
        for i in reversed(range((n - 1) // 32 + 1)):
            mix32(16 * i, n - 16 * i - 16, 32 * i)
    else:
        for at in range(0, 128, 32):
            mix32(at, at + 16, at)
        lo, hi = avalanche3(lo), avalanche3(hi)
        for at in range(128, n - 31, 32):
            mix32(at, at + 16, at - 125)
        mix32(n - 16, n - 32, 103, -seed)
    last = (lo * P1 + hi * P4 + (n - seed) * P2) & M64
    return avalanche3((lo + hi) & M64), -avalanche3(last) & M64


def xxh3_short(data, n, seed):
    if n > 8:
        flip_lo = (r64(SECRET, 32) ^ r64(SECRET, 40)) - seed & M64
        flip_hi = (r64(SECRET, 48) ^ r64(SECRET, 56)) + seed & M64
        first, last = r64(data, 0), r64(data, n - 8)
        wide = (first ^ last ^ flip_lo) * P1
        lo, hi = (wide + (n - 1 << 54)) & M64, wide >> 64
        last ^= flip_hi
        hi = (hi + last + (last & M32) * (P32_2 - 1)) & M64
        lo ^= swap64(hi)
        wide = lo * P2
        return avalanche3(wide & M64), avalanche3(((wide >> 64) + hi * P2) & M64)
    if n >= 4:
        seed ^= swap32(seed & M32) << 32
        flip = (r64(SECRET, 16) ^ r64(SECRET, 24)) + seed & M64
        wide = (r32(data, 0) + (r32(data, n - 4) << 32) ^ flip) * (P1 + (n << 2))
        lo, hi = wide & M64, wide >> 64
        hi = (hi + (lo << 1)) & M64
        lo ^= hi >> 3
        lo = (lo ^ lo >> 35) * 0x9FB21C651E98DF25 & M64
        return lo ^ lo >> 28, avalanche3(hi)
    if n >= 1:
        low = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        high = swap32(low)
        high = (high << 13 | high >> 19) & M32
        flip_lo = (r32(SECRET, 0) ^ r32(SECRET, 4)) + seed & M64
        flip_hi = (r32(SECRET, 8) ^ r32(SECRET, 12)) - seed & M64
        return avalanche64(low ^ flip_lo), avalanche64(high ^ flip_hi)
    halves = (seed ^ r64(SECRET, at) ^ r64(SECRET, at + 8) for at in (64, 80))
    return tuple(avalanche64(half) for half in halves)


def xxh3_long(data, n, seed):
    secret = b"".join(
        ((r64(SECRET, at) + (-seed if at & 8 else seed)) & M64).to_bytes(8, "little")
        for at in range(0, 192, 8)
    )
    acc = [P32_3, P1, P2, P3, P4, P32_2, P5, P32_1]

    def stripe(at, key_at):
        for i in range(8):
            value = r64(data, at + 8 * i)
            key = value ^ r64(secret, key_at + 8 * i)
            acc[i ^ 1] = (acc[i ^ 1] + value) & M64
            acc[i] = (acc[i] + (key & M32) * (key >> 32)) & M64

    for number in range((n - 1) // 64):
        stripe(64 * number, 8 * (number % 16))
        if number % 16 == 15:
            for i in range(8):
                acc[i] = (acc[i] ^ acc[i] >> 47 ^ r64(secret, 128 + 8 * i)) * P32_1 & M64
    stripe(n - 64, 121)

    def merge(at, start):
        pairs = range(0, 8, 2)
        parts = (fold(acc[i] ^ r64(secret, at + 8 * i), acc[i + 1] ^ r64(secret, at + 8 * i + 8)) for i in pairs)
        return avalanche3((start + sum(parts)) & M64)

    return merge(11, n * P1 & M64), merge(117, ~(n * P2) & M64)


# --- the file -------------------------------------------------------------------------------

KINDS = {1: "classic", 2: "split-block", 3: "blocked"}
ENCODINGS = {
    0: "unspecified", 1: "raw", 2: "utf8", 3: "utf8-lower-nfkc", 4: "u64-le", 5: "i64-le",
    6: "u32-le", 7: "utf16-le", 8: "decimal-text", 10: "parquet-plain", 11: "i32-le",
}


def u(data, at, size):
    return int.from_bytes(data[at : at + size], "little")


class Filter:
    def __init__(self, data):
        need(256 <= len(data) <= 1 << 38, "length: shorter than a header, or past the limit")
        need(data[:4] == b"BLMF", "it does not begin with BLMF")
        need(data[8:12] == b"\r\n\x1a\n", "changed by a copy in text mode")
        need(u(data, 4, 2) == 2, f"format version {u(data, 4, 2)}, expected 2")
        need(crc32c(data[:252]) == u(data, 252, 4), "checksum of the header")
        need(u(data, 16, 4) == 0, f"incompatible features {u(data, 16, 4):#x}")
        need(data[101:103] != b"\1\0", "file: a batch; asked: a single filter")
        need(data[101:103] == b"\0\1", "state and contents are not those of a filter file")
        need(u(data, 6, 2) == 0xFFFF and u(data, 12, 4) == 256, "header: constants")
        zero = (data[64:101], data[103:112], data[128:144], data[193:200], data[216:252])
        need(not any(map(any, zero)), "header: reserved bytes")
        self.sections = u(data, 28, 4)
        need(1 <= self.sections <= 4096, f"{self.sections} sections")
        self.parts(data)
        self.metadata(data)
        is_whole = self.chain or self.shards is not None or self.sections == 1
        need(is_whole, "several sections, and nothing makes one of them")
        self.entries(data)

    def parts(self, data):
        """Where the parts lie follows from their lengths."""
        meta, pages, log2 = u(data, 152, 8), u(data, 208, 8), data[192]
        need(8 <= meta <= 65536 and meta % 8 == 0 and log2 in (12, 16), "header: lengths")
        need(pages % 4096 == 0 and pages <= 1 << 38, "header: lengths")
        entries = 128 * self.sections + 8
        table, start = 256 + meta, (256 + meta + entries + 4095) // 4096 * 4096
        sums, page = start + pages, 1 << log2
        count = (pages + page - 1) // page
        said = [u(data, at, 8) for at in (144, 160, 168, 176, 184, 200)]
        need(said == [256, table, entries, sums, 4 * count + 8, start], "header: offsets")
        end = sums + 4 * count + 8
        need(u(data, 32, 8) == end == len(data), f"{len(data)} bytes, expected {end}")
        self.uuid, self.generation = u(data, 40, 16), u(data, 56, 8)
        self.built_at, self.seed = struct.unpack_from("<q", data, 112)[0], u(data, 120, 8)
        self.meta, self.table, self.start, self.pages = (256, meta), table, start, pages
        identity = data[40:128]
        for at, size, number in ((256, meta, 1), (table, entries, 2), (sums, 4 * count + 8, 4)):
            body, end = data[at : at + size - 4], at + size
            need(u(data, end - 8, 4) == number, f"number of table {number}")
            need(crc32c(identity, body) == u(data, end - 4, 4), f"checksum of table {number}")
        for i in range(count):
            body = data[start + i * page : min(start + (i + 1) * page, sums)]
            right = crc32c(identity, i.to_bytes(8, "little"), body)
            need(right == u(data, sums + 4 * i, 4), f"checksum of page {i}")
        need(not any(data[table + entries : start]), "gap before the page area")

    def metadata(self, data):
        at, end = 256, 256 + self.meta[1] - 8
        self.source, self.labels, last = None, {}, -1
        self.chain = self.shards = None
        while at < end:
            tag, zero, size = struct.unpack_from("<HHI", data, at)
            stop = at + 8 + (size + 7) // 8 * 8
            need(zero == 0 and stop <= end and tag > last, "metadata: layout")
            need(not any(data[at + 8 + size : stop]), "metadata: padding")
            value = data[at + 8 : at + 8 + size]
            if tag == 2:
                self.source = Cbor(value).whole()
            elif tag == 3:
                self.labels = Cbor(value).whole()
            elif tag == 0x8005:
                form = (size, value[:4])
                if form == (16, b"\2\0\0\0") and not any(value[4:8]):
                    self.shards = u(value, 8, 8)
                else:
                    need(form == (40, b"\1\0\0\0"), "compound: form")
                    names = ("factor", "rate", "tightening", "links", "bytes")
                    self.chain = dict(zip(names, struct.unpack_from("<IddQQ", value, 4)))
            else:
                need(not tag & 0x8000, f"metadata: tag {tag:#x} is critical and unknown")
            at, last = stop, tag

    def entries(self, data):
        """The entries, payloads one behind the other."""
        place, self.links = self.start, []
        for i in range(self.sections):
            entry = data[self.table + 128 * i : self.table + 128 * i + 128]
            link = Section(entry, data, place, self.seed)
            self.links.append(link)
            place += (link.size + 4095) // 4096 * 4096
        need(place == self.start + self.pages, "sections: payloads are not all of the pages")
        first = self.links[0]
        same = all(link.same == first.same for link in self.links)
        need(same, "sections: another kind, hash or encoding than the first")
        if self.chain:
            rates, most = sum(link.target for link in self.links), self.chain["rate"]
            known = all(link.target > 0 and link.capacity > 0 for link in self.links)
            need(known and rates <= most * (1 + 1e-9), "chain: rates of its links")
            need(self.sections <= self.chain["links"] <= 64, "chain: links")
        if self.shards is not None:
            alike = {(link.capacity, link.target) for link in self.links}
            need(len(alike) == 1, "shards: made for different capacities or rates")
        self.encoding, self.hash = first.encoding, first.hash

    def has(self, item):
        hash = xxh3_128(item, self.seed) if self.hash == 8 else (xxh64(item), 0)
        if self.shards is not None:
            return self.links[self.shard_of(*hash)].has(*hash)
        return any(link.has(*hash) for link in self.links)

    def shard_of(self, lo, hi):
        x = rotl(lo, 32) ^ hi * 0x9E3779B97F4A7C15 & M64
        x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & M64
        x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & M64
        return (x ^ x >> 33) * self.sections >> 64

    def show(self):
        hashes = {1: "xxh64, seed 0", 8: f"xxh3-128, seed {self.seed}"}
        print(f"items      {ENCODINGS[self.encoding]}; {hashes[self.hash]}")
        print(f"built at   {self.built_at} us since 1970, generation {self.generation}")
        print(f"uuid       {self.uuid:032x}")
        print(f"source     {self.source}")
        print(f"labels     {self.labels}")
        if self.chain:
            print(f"chain      {self.chain}")
        if self.shards is not None:
            print(f"shards     {self.sections}, for {self.shards} items together")
        for link in self.links:
            link.show()


class Section:
    """An entry of the table and its payload, which begins at `start`."""

    def __init__(self, entry, data, start, seed):
        self.kind, self.hash = u(entry, 0, 2), u(entry, 4, 2)
        self.encoding, self.k, self.count = entry[6], entry[7], u(entry, 40, 8)
        self.same = (self.kind, self.hash, self.encoding)
        place, self.size = u(entry, 56, 8), u(entry, 64, 8)
        self.capacity, self.inserted, self.ones = (u(entry, at, 8) for at in (72, 88, 96))
        self.target = struct.unpack_from("<d", entry, 80)[0]
        need(self.kind in KINDS, f"kind {self.kind} is unknown")
        need(self.encoding in ENCODINGS, f"item encoding {self.encoding} is unknown")
        known = self.hash == 8 or (self.hash == 1 and u(entry, 8, 8) == 0)
        need(known, f"hash {self.hash} with seed {u(entry, 8, 8)} is unknown")
        need(u(entry, 2, 2) == 0xFFFF and u(entry, 8, 8) == seed, "section: column, seed")
        need(not any(entry[16:40] + entry[48:56] + entry[104:]), "section: reserved bytes")
        need(0 <= self.target < 1, "section: target rate")
        k, count = self.k, self.count
        limits = {
            1: 1 <= k <= 64 and 1 <= count <= 1 << 40,
            2: k == 0 and count % 4 == 0 and 1 <= count // 4 < 1 << 32,
            3: 4 <= k <= 8 and count % 8 == 0 and 1 <= count // 8 < 1 << 32,
        }
        need(limits[self.kind], "section: parameters")
        words = (count + 63) // 64 if self.kind == 1 else count
        need((place, self.size) == (start, 8 * words), "section: payload")
        end = place + self.size
        need(end <= len(data), "section: payload")
        self.bits = data[place:end]
        need(not any(data[end : (end + 4095) // 4096 * 4096]), "section: padding")
        number = int.from_bytes(self.bits, "little")
        need(bin(number).count("1") == self.ones, "section: set bits")
        need(self.kind != 1 or number >> count == 0, "section: bits past the last")

    def has(self, lo, hi):
        return {1: self.classic, 2: self.split_block, 3: self.blocked}[self.kind](lo, hi)

    def bit(self, at):
        return self.bits[at // 8] >> at % 8 & 1 == 1

    def classic(self, lo, hi):
        def stirred(x):
            x = x * 0x9E3779B97F4A7C15 & M64
            return x ^ x >> 32

        step = (hi + stirred(lo)) & M64
        first = lo + stirred(step)
        for i in range(self.k):
            x = (first + i * (step | 1)) & M64
            x = (x ^ x >> 32) * 0xD6E8FEB86659FD93 & M64
            x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9 & M64
            if not self.bit(x * self.count >> 64):
                return False
        return True

    def split_block(self, lo, _):
        block = (lo >> 32) * (self.count // 4) >> 32
        salts = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D,
                 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
        return all(
            self.bit(block * 256 + 32 * i + ((lo * salt & M32) >> 27))
            for i, salt in enumerate(salts)
        )

    def blocked(self, lo, _):
        block = (lo >> 32) * (self.count // 8) >> 32
        f = lo * 0x9E3779B97F4A7C15 & M64
        lanes = ((f >> 13 & 7) + i & 7 for i in range(self.k))
        return all(
            self.bit(block * 512 + 64 * lane + (f >> 16 + 6 * lane & 63)) for lane in lanes
        )

    def show(self):
        size = f"{self.count} bits" if self.kind == 1 else f"{self.count} words"
        print(f"kind       {KINDS[self.kind]}, k {self.k}, {size}, {self.ones} bits set")
        print(f"made for   {self.capacity} items at a rate of {self.target}; 0: unknown")
        print(f"inserted   {self.inserted}")


class Cbor:
    """Maps, texts, byte strings and unsigned numbers; depth at most 4."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def whole(self):
        value = self.value(4)
        need(self.at == len(self.data), "CBOR: bytes behind the end")
        return value

    def take(self, size):
        need(self.at + size <= len(self.data), "CBOR: cut off")
        self.at += size
        return self.data[self.at - size : self.at]

    def value(self, depth):
        first = self.take(1)[0]
        major, number = first >> 5, first & 31
        if number >= 24:
            need(number < 28, "CBOR: head")
            wide = 1 << number - 24
            number = int.from_bytes(self.take(wide), "big")
            least = 24 if wide == 1 else 1 << 4 * wide
            need(number >= least, "CBOR: a head that could be shorter")
        if major == 0:
            return number
        if major == 2:
            return self.take(number).hex()
        if major == 3:
            return self.take(number).decode()
        need(major == 5 and depth > 0, "CBOR: not a map, a text, bytes or a number")
        result, last = {}, b""
        for _ in range(number):
            start = self.at
            key = self.value(0)
            encoded = self.data[start : self.at]
            need(encoded > last, "CBOR: keys out of order")
            result[key], last = self.value(depth - 1), encoded
        return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--item", action="append", help="ask for this text")
    parser.add_argument("--hex", action="store_true", help="ask for lines of hex")
    args = parser.parse_args()
    try:
        with open(args.file, "rb") as file:
            found = Filter(file.read())
    except (OSError, Refused, UnicodeDecodeError) as why:
        sys.exit(f"{args.file}: refused: {why}")
    items = [text.encode() for text in args.item or []]
    if args.hex:
        items += [bytes.fromhex(line) for line in sys.stdin]
    if not items:
        found.show()
    for item in items:
        print("maybe" if found.has(item) else "no")


if __name__ == "__main__":
    main()
