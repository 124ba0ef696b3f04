package text

import (
	"strconv"
	"strings"
)

// Clock parses a length such as "45:35" or "1:02:03", in seconds; nil if s is not one.
func Clock(s string) *float64 {
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return nil
	}
	total := 0
	for i, part := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 20)
		if err != nil || i > 0 && n > 59 {
			return nil
		}
		total = total*60 + int(n)
	}
	return new(float64(total))
}
