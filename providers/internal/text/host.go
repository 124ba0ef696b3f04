package text

import "golang.org/x/net/idna"

// asciiHost returns host with an internationalised name in its ASCII form.
func asciiHost(host string) (string, bool) {
	for i := range len(host) {
		if host[i] >= 0x80 {
			a, err := idna.Lookup.ToASCII(host)
			return a, err == nil
		}
	}
	return host, true
}
