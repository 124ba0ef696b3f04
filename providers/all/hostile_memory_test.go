package all

import (
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/socialdata/socialdata/internal/testsize"
	"github.com/socialdata/socialdata/providers"
)

const (
	oneAnswerTakes = 64 << 20 // maximum, in bytes
	// whileMeasured is GOGC during the measurement. The operator chooses how much garbage there may be, and it depends
	// on what else the process holds; the answer itself needs live memory.
	whileMeasured = 20
)

// TestNoAnswerTakesMuchMemory reads each large answer once, and compares the resident memory before with the peak while
// the answer is read, decoded and sent. The kernel records the peak, so none is missed, however fast the machine is.
// The upstream and the caller are in the same process and count too. It does not run in parallel. With SIZE=full each
// provider reads them, once as a resource and once raw.
func TestNoAnswerTakesMuchMemory(t *testing.T) {
	testsize.NoRace(t)
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("reads /proc, and fills memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(whileMeasured))
	certs := newCertificates(t)
	model()
	for _, name := range largeFaults() {
		f := faultNamed(name) // only this one is kept: the texts of the others are garbage
		for _, m := range measured(t) {
			t.Run(m.call.target+" "+f.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					idle, top := marksOf(t, m, f, certs)
					if top > idle+oneAnswerTakes {
						t.Errorf("it took %d MB, want %d at most", (top-idle)>>20, oneAnswerTakes>>20)
					}
					t.Logf("%d MB over %d", (top-idle)>>20, idle>>20)
				})
			})
		}
	}
}

// measuredCalls read JSON, pages with scripts, pages without, feeds, and raw answers: unchanged, and with parts
// removed.
var measuredCalls = []string{
	"/v1/bluesky/posts", "/v1/spotify/posts", "/v1/instagram/profile", "/v1/linkedin/posts", "/v1/rumble/post", "/v1/pinterest/collection/posts",
	"/v1/raw/hackernews/jobstories.json", "/v1/raw/kick/public/v1/channels",
}

// measuredCall is a call of one provider.
type measuredCall struct {
	provider providers.Provider
	call     hostileCall
}

func measured(t *testing.T) (all []measuredCall) {
	t.Helper()
	for _, p := range hostileProviders(t) {
		first := map[bool]bool{true: true, false: true} // by whether the call is raw
		for _, call := range callsOf(t, p) {
			path, _, _ := strings.Cut(call.target, "?")
			chosen := testsize.Full() && first[call.raw]
			for _, one := range measuredCalls {
				chosen = chosen || one == path && p.Name != "scrapecreators"
			}
			if chosen {
				all, first[call.raw] = append(all, measuredCall{p, call}), false
			}
		}
	}
	return all
}

// largeFaults returns the names of the faults with large answers.
func largeFaults() (names []string) {
	for _, f := range faults() {
		if f.large && !f.token {
			names = append(names, f.name)
		}
	}
	return names
}

func faultNamed(name string) fault {
	for _, f := range faults() {
		if f.name == name {
			return f
		}
	}
	return fault{}
}

// marksOf returns the resident memory before a call, and the peak during it, in bytes.
func marksOf(t *testing.T, m measuredCall, f fault, certs *certificates) (idle, top int64) {
	t.Helper()
	n := &hostileNet{fault: f, certs: certs}
	s := startHostile(t, n, m.provider, usual)
	defer n.ends.Wait()
	defer s.stop(t)
	s.get(t, "/health") // initializes what is done once
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // resets the recorded peak
		t.Skip(err)
	}
	idle = statusOf(t, "VmHWM")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server"+m.call.target, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.secret)
	res, err := s.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil { // whether to keep it is up to the caller
		t.Error(err)
	}
	_ = res.Body.Close()
	if n.requests() == 0 {
		t.Error("no upstream was asked")
	}
	return idle, statusOf(t, "VmHWM")
}

// statusOf returns the value of a line in /proc/self/status, in bytes.
func statusOf(t *testing.T, name string) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kb, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatalf("/proc/self/status has no %s", name)
	return 0
}
