package postgres

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/store/records"
)

func TestSizesOfEachKind(t *testing.T) {
	t.Parallel()
	db := openDB(t, newSchema(t))
	addAccount(t, db, "acct", 10)
	for key, n := range map[string]int{"job/1": 1000, "idempotency/1": 100, "idempotency/2": 100, "word": 10} {
		if _, err := db.Records().Put(t.Context(), records.Record{Key: key, Value: make([]byte, n)}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Requests().Add(t.Context(),
		[]requests.Request{{ID: "req_1", At: time.Now()}, {ID: "req_2", At: time.Now()}}, nil); err != nil {
		t.Fatal(err)
	}
	sizes, err := db.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for _, s := range sizes {
		if s.Bytes <= 0 {
			t.Errorf("%s take %d bytes", s.Kind, s.Bytes)
		}
		if rows[s.Kind] = s.Rows; s.Kind == "books" { // an estimate
			rows[s.Kind] = 0
		}
	}
	want := map[string]int64{"books": 0, "requests": 2, "usage": 0, "jobs": 1, "idempotent answers": 2, "records": 1}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
