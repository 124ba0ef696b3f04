package providers_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

func TestEveryBatchStandsBesideAFunctionOfItsKind(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[providers.Provider]()
	for f := range reflect.TypeFor[providers.Batches]().Fields() {
		lone, ok := of.FieldByName(f.Name)
		if !ok || lone.Tag.Get("op") != f.Tag.Get("op") {
			t.Errorf("%s has no function of its name and operation", f.Name)
			continue
		}
		read, _ := f.Type.FieldByName("Read")
		if one, many := lone.Type.Out(0), read.Type.Out(0).Elem(); one != many {
			t.Errorf("%s: the function returns %v, its batch %v", f.Name, one, many)
		}
		if read.Type.NumIn() == 3 && read.Type.In(2) != lone.Type.In(1) {
			t.Errorf("%s: the function takes %v, its batch %v", f.Name, lone.Type.In(1), read.Type.In(2))
		}
	}
}

func TestAtOnce(t *testing.T) {
	t.Parallel()
	p := providers.Provider{
		Profile: func(context.Context, string) (schema.Profile, error) { return schema.Profile{}, nil },
		Post:    func(context.Context, string) (schema.Post, error) { return schema.Post{}, nil },
	}
	p.Batches.Profile = providers.Batch[schema.Profile]{
		Most: 50, Read: func(context.Context, []string) (map[string]schema.Profile, error) { return nil, nil },
	}
	p.Batches.Live = providers.Batch[schema.LiveStream]{
		Most: 50, Read: func(context.Context, []string) (map[string]schema.LiveStream, error) { return nil, nil },
	}
	got := map[providers.Op]int{}
	for _, op := range []providers.Op{providers.OpProfile, providers.OpPost, providers.OpLive, providers.OpPosts} {
		got[op] = p.AtOnce(op)
	}
	want := map[providers.Op]int{providers.OpProfile: 50, providers.OpPost: 1, providers.OpLive: 0, providers.OpPosts: 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys a request (-want +got):\n%s", diff)
	}
	without := p.WithoutOps([]string{"token"}, providers.OpProfile)
	if without.Batches.Profile.Read != nil || without.Batches.Profile.Most != 0 {
		t.Error("an operation that is switched off has kept its batch")
	}
}

func TestApart(t *testing.T) {
	t.Parallel()
	keys := providers.KeysError{"a": providers.NotFound("it is suspended")}
	single, all := providers.Apart(keys)
	if all != nil || !errors.Is(single["a"], providers.ErrNotFound) {
		t.Errorf("of single keys: %v, %v", single, all)
	}
	if single, all := providers.Apart(providers.ErrTimeout); single != nil || !errors.Is(all, providers.ErrTimeout) {
		t.Errorf("of all keys: %v, %v", single, all)
	}
}
