package privacy

import "testing"

// TestSipHash compares with the vectors of the reference implementation: the hash of the first n of the bytes 0, 1, 2,
// … with the key of the bytes 0 to 15. https://github.com/veorq/SipHash/blob/master/vectors.h
func TestSipHash(t *testing.T) {
	t.Parallel()
	var key, in [64]byte
	for i := range in {
		key[i], in[i] = byte(i), byte(i)
	}
	for n, want := range map[int]uint64{
		0: 0x726fdb47dd0e0e31, 1: 0x74f839c593dc67fd, 7: 0xab0200f58b01d137, 8: 0x93f5f5799a932462, 15: 0xa129ca6149be45e5,
	} {
		s := newSip(key[:16])
		if got := s.sum(in[:n]); got != want {
			t.Errorf("of %d bytes: %x, want %x", n, got, want)
		}
	}
}
