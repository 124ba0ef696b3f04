package mock

// dice generates the same numbers for the same words, on every machine and in every version: the sandbox's data for a
// handle or an id never changes, and needs no store.
type dice uint64

// roll returns the dice for the given words.
func roll(words ...string) *dice {
	d := dice(14695981039346656037) // FNV-1a
	for _, w := range words {
		for i := range len(w) {
			d = (d ^ dice(w[i])) * 1099511628211
		}
		d = (d ^ 0xff) * 1099511628211 // so that "ab", "c" differs from "a", "bc"
	}
	return &d
}

// next is SplitMix64.
func (d *dice) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (d *dice) below(n int) int { return int(d.next() % uint64(n)) }

// between returns a number from low to high, both included.
func (d *dice) between(low, high int) int { return low + d.below(high-low+1) }

// often returns true in that percentage of cases.
func (d *dice) often(percent int) bool { return d.below(100) < percent }

// pick returns one of from.
func pick[T any](d *dice, from []T) T { return from[d.below(len(from))] }

// hide returns nil in that percentage of cases, and v in the others, because real platforms do not always have a value.
func hide[T any](d *dice, percent int, v T) *T {
	if d.often(percent) {
		return nil
	}
	return &v
}

// count returns a number distributed as on real platforms: usually small, sometimes with many digits.
func (d *dice) count(digits int) int64 {
	n := int64(d.between(1, 9))
	for range d.below(digits) {
		n = n*10 + int64(d.below(10))
	}
	return n
}
