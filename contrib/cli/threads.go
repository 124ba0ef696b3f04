package cli

import (
	"os"
	"runtime"
	"sync"
)

// spare is how many goroutines may run at once beyond the number of CPUs.
const spare = 2

// addSpareOnce adds them once, however often the process serves.
var addSpareOnce = sync.OnceFunc(addSpare)

// addSpare lets [spare] more goroutines run at once, for a server whose store is a file: the runtime counts the
// goroutine that waits for the disk as one that runs, and with 64 callers it waits a sixth of the time. On two CPUs the
// server answers a tenth more calls with them (go run ./examples/load, by turns with GOMAXPROCS=2 in the program's
// environment). An operator who sets GOMAXPROCS decides instead. A limit of the container that changes while the server
// runs is no longer followed.
func addSpare() {
	if _, set := os.LookupEnv("GOMAXPROCS"); !set {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spare)
	}
}
