package providers_test

import (
	"testing"

	"github.com/socialdata/socialdata/providers"
)

func TestOwnIsThreeValued(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text                      string
		byDefaultOn, byDefaultOff bool
	}{{"", true, false}, {"on", true, true}, {"off", false, false}}
	for _, tt := range tests {
		var o providers.Own
		if err := o.UnmarshalText([]byte(tt.text)); err != nil {
			t.Fatal(err)
		}
		if o.On(true) != tt.byDefaultOn || o.On(false) != tt.byDefaultOff || o.String() != tt.text {
			t.Errorf("%q is %v and %v, and reads %q", tt.text, o.On(true), o.On(false), o)
		}
	}
	var o providers.Own
	for _, bad := range []string{"true", "1", "ON", "yes"} {
		if err := o.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was taken for %v", bad, o)
		}
	}
}

func TestPagesThatAreSwitchedOffNameTheSetting(t *testing.T) {
	t.Parallel()
	if p := fake().IfOwn(providers.OwnDefault, true); !p.Serves(providers.OpPosts) {
		t.Error("switched off although on by default")
	}
	p := fake().IfOwn(providers.OwnOff, true)
	if p.Serves(providers.OpPosts) || len(p.Missing[providers.OpPosts]) != 1 || p.Missing[providers.OpPosts][0] != "own" {
		t.Errorf("posts miss %v, want own", p.Missing[providers.OpPosts])
	}
}
