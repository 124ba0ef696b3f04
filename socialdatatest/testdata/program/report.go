// Package report is a program that calls the service, as those who use it write them.
package report

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Followers returns how many followers an account has. It calls again if the service says when.
func Followers(ctx context.Context, base, key, platform, handle string) (int64, error) {
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/"+platform+"/profile?handle="+handle, nil)
		if err != nil {
			return 0, err
		}
		r.Header.Set("Authorization", "Bearer "+key)
		n, wait, err := once(r)
		if wait == 0 {
			return n, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(wait):
		}
	}
}

func once(r *http.Request) (followers int64, wait time.Duration, err error) {
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		return 0, time.Duration(seconds) * time.Second, nil
	}
	var answer struct {
		Detail string
		Data   struct{ Followers int64 }
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		return 0, 0, err
	}
	if res.StatusCode != http.StatusOK {
		return 0, 0, fmt.Errorf("%d: %s", res.StatusCode, answer.Detail)
	}
	return answer.Data.Followers, 0, nil
}
