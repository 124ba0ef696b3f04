package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/requests"
	"github.com/socialdata/socialdata/store/bookkeeping"
	"github.com/socialdata/socialdata/store/records"
)

func TestSizesOfEachKind(t *testing.T) {
	t.Parallel()
	db := openDB(t, Config{Path: filepath.Join(t.TempDir(), "test.db")})
	account, err := db.Keys().CreateAccount(t.Context(), "acct")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Ledger().Grant(t.Context(), account.ID, 10, "to start with"); err != nil {
		t.Fatal(err)
	}
	for key, n := range map[string]int{"job/1": 50_000, "idempotency/1": 100, "idempotency/2": 100, "word": 10} {
		if _, err := db.Records().Put(t.Context(), records.Record{Key: key, Value: make([]byte, n)}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Requests().Add(t.Context(),
		[]requests.Request{{ID: "req_1", At: time.Now()}, {ID: "req_2", At: time.Now()}}, nil); err != nil {
		t.Fatal(err)
	}
	fold(t, db) // the rows of the journal are not counted
	sizes, err := db.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for _, s := range sizes {
		rows[s.Kind] = s.Rows
		if large := s.Kind == "jobs"; s.Bytes <= 0 || large != (s.Bytes > 40_000) {
			t.Errorf("%s take %d bytes", s.Kind, s.Bytes)
		}
	}
	want := map[string]int64{
		bookkeeping.SizeBooks: 1, bookkeeping.SizeRequests: 2, bookkeeping.SizeUsage: 0, "jobs": 1, "idempotent answers": 2,
		"records": 1,
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
