/* Owns SHA-1: blocks of 64 bytes, five words of state. */
#include "base/sha1.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, WORDS = 80 };

static uint32_t rotate(uint32_t word, int by)
{
	return (word << by) | (word >> (32 - by));
}

static uint32_t mix(int round, const uint32_t *w)
{
	if (round < 20)
		return ((w[1] & w[2]) | (~w[1] & w[3])) + 0x5a827999;
	if (round < 40)
		return (w[1] ^ w[2] ^ w[3]) + 0x6ed9eba1;
	if (round < 60)
		return ((w[1] & w[2]) | (w[1] & w[3]) | (w[2] & w[3])) + 0x8f1bbcdc;
	return (w[1] ^ w[2] ^ w[3]) + 0xca62c1d6;
}

static void add_block(uint32_t *state, const unsigned char *block)
{
	uint32_t schedule[WORDS], w[5];
	for (size_t i = 0; i < 16; i++)
		schedule[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		              (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (size_t i = 16; i < WORDS; i++)
		schedule[i] = rotate(schedule[i - 3] ^ schedule[i - 8] ^ schedule[i - 14] ^ schedule[i - 16], 1);
	memcpy(w, state, sizeof(w));
	for (int round = 0; round < WORDS; round++) {
		uint32_t next = rotate(w[0], 5) + mix(round, w) + w[4] + schedule[round];
		w[4] = w[3];
		w[3] = w[2];
		w[2] = rotate(w[1], 30);
		w[1] = w[0];
		w[0] = next;
	}
	for (int i = 0; i < 5; i++)
		state[i] += w[i];
}

void sha1_hex(const char *text, size_t length, char *out)
{
	uint32_t state[] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
	unsigned char last[2 * BLOCK] = {0};
	size_t whole = length / BLOCK * BLOCK, rest = length - whole, end = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
	uint64_t bits = (uint64_t)length * 8;
	for (size_t at = 0; at < whole; at += BLOCK)
		add_block(state, (const unsigned char *)text + at);
	memcpy(last, text + whole, rest);
	last[rest] = 0x80;
	for (size_t i = 0; i < 8; i++)
		last[end - 1 - i] = (unsigned char)(bits >> (8 * i));
	for (size_t at = 0; at < end; at += BLOCK)
		add_block(state, last + at);
	for (int i = 0; i < 5; i++)
		snprintf(out + 8 * i, 9, "%08x", (unsigned)state[i]);
}
