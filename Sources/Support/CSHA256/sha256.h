// SHA-256 with processor instructions that Swift doesn't expose: the SHA extensions of x86-64 and
// ARMv8. All arm64 processors by Apple have them.
#ifndef CSHA256_H
#define CSHA256_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

// Executes CPUID, which is slow in a virtual machine. Call it once.
static inline int csha256_is_available(void) {
  unsigned int a, b, c, d;
  // Leaf 1: SSSE3 is bit 9, SSE4.1 bit 19. Leaf 7: the SHA extensions are bit 29.
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 9 & 1) || !(c >> 19 & 1)) { return 0; }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

// Processes `count` blocks of 64 bytes and updates the eight words of `state`. `constants` points
// to the 64 constants of FIPS 180-4. Requires that csha256_is_available() is not 0.
__attribute__((target("sha,sse4.1,ssse3")))
static inline void csha256_compress(
    uint32_t *state, const uint8_t *blocks, size_t count, const uint32_t *constants) {
  const __m128i bigEndian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  // The instructions require the words as (A B E F) and (C D G H), the first one highest.
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);

  for (; count > 0; count -= 1, blocks += 64) {
    const __m128i abefBefore = abef, cdghBefore = cdgh;
    __m128i words[4];  // the last sixteen words of the schedule
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i += 1) {
      __m128i next;
      if (i < 4) {
        next = _mm_loadu_si128((const __m128i *)(blocks + 16 * i));
        next = _mm_shuffle_epi8(next, bigEndian);
      } else {
        const __m128i before = words[(i + 3) & 3];
        next = _mm_sha256msg1_epu32(words[i & 3], words[(i + 1) & 3]);
        next = _mm_add_epi32(next, _mm_alignr_epi8(before, words[(i + 2) & 3], 4));
        next = _mm_sha256msg2_epu32(next, before);
      }
      words[i & 3] = next;
      const __m128i sum =
          _mm_add_epi32(next, _mm_loadu_si128((const __m128i *)(constants + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    abef = _mm_add_epi32(abef, abefBefore);
    cdgh = _mm_add_epi32(cdgh, cdghBefore);
  }

  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#elif defined(__aarch64__)

#include <arm_neon.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

static inline int csha256_is_available(void) {
#if defined(__linux__)
  return getauxval(AT_HWCAP) >> 6 & 1;  // HWCAP_SHA2
#elif defined(__APPLE__)
  return 1;
#else
  return 0;
#endif
}

// Processes `count` blocks of 64 bytes and updates the eight words of `state`. `constants` points
// to the 64 constants of FIPS 180-4. Requires that csha256_is_available() is not 0.
__attribute__((target("sha2")))
static inline void csha256_compress(
    uint32_t *state, const uint8_t *blocks, size_t count, const uint32_t *constants) {
  uint32x4_t abcd = vld1q_u32(state);
  uint32x4_t efgh = vld1q_u32(state + 4);

  for (; count > 0; count -= 1, blocks += 64) {
    const uint32x4_t abcdBefore = abcd, efghBefore = efgh;
    uint32x4_t words[4];  // the last sixteen words of the schedule
#pragma clang loop unroll(full)
    for (int i = 0; i < 16; i += 1) {
      uint32x4_t next;
      if (i < 4) {
        next = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(blocks + 16 * i)));
      } else {
        next = vsha256su1q_u32(
            vsha256su0q_u32(words[i & 3], words[(i + 1) & 3]), words[(i + 2) & 3],
            words[(i + 3) & 3]);
      }
      words[i & 3] = next;
      const uint32x4_t sum = vaddq_u32(next, vld1q_u32(constants + 4 * i));
      const uint32x4_t abcdThen = abcd;
      abcd = vsha256hq_u32(abcd, efgh, sum);
      efgh = vsha256h2q_u32(efgh, abcdThen, sum);
    }
    abcd = vaddq_u32(abcd, abcdBefore);
    efgh = vaddq_u32(efgh, efghBefore);
  }

  vst1q_u32(state, abcd);
  vst1q_u32(state + 4, efgh);
}

#else

static inline int csha256_is_available(void) { return 0; }
static inline void csha256_compress(
    uint32_t *state, const uint8_t *blocks, size_t count, const uint32_t *constants) {}

#endif

#endif
