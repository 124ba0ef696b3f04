package upstreams

// depth is how much stack a read needs, in bytes: what it gets is decoded and encoded with reflection.
const depth = 24 << 10

// Deepen makes the stack of a new goroutine as large as a read needs. Otherwise the runtime doubles it again and again,
// and each time moves what is on it, which takes a sixth of a small miss (BenchmarkPromptRead in the root package).
//
//go:noinline
func Deepen() {
	var room [depth]byte
	touch(&room)
}

//go:noinline
func touch(*[depth]byte) {}
