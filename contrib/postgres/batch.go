package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/socialdata/socialdata/credits"
)

// batch is a transaction of the ledger. It locks the rows of all accounts that it needs, always in the same order, and
// reads what the calls need. Then it decides each call in turn, in memory and exactly as if it were alone, and then it
// writes all results. That takes two round trips, whatever the number of calls.
type batch struct {
	db  *DB
	tx  *tx
	now time.Time

	accounts map[string]*account
	holds    map[string]*hold          // rows, by id
	charged  map[string]settled        // by hold, for holds without a row
	spent    map[spender]*spending     // a nil value means that there is no row
	keyed    map[keyed]credits.Receipt // amounts of charges with an idempotency key, of the last 24 hours

	requests map[asked]int64 // what they were charged, less refunds

	opened  []*hold
	closed  []*hold
	entries []entry
	ended   map[string]settled // results of holds that were settled in this batch
	told    bool               // a result is an entry that was there before
}

// wanted is what the calls of a batch need to know.
type wanted struct {
	unsure   bool // whether an earlier attempt may have been committed
	accounts map[string]bool
	holds    []string // ids
	holders  []string // the account of each hold
	spenders map[spender]bool
	keyed    map[keyed]bool
	requests map[asked]bool
}

// account is the head of an account's ledger.
type account struct {
	id    string
	no    int64
	last  credits.Entry // only its Seq, Balance, At and Hash
	held  int64
	first int64 // as in the table

	before struct{ balance, held int64 } // as they are in the table
	dirty  bool
}

// free returns what the account can spend.
func (a *account) free() int64 { return a.last.Balance - a.held }

type hold struct {
	id      string
	account int64
	key     string
	amount  int64
	expires int64
}

type spender struct{ account, key string }

type keyed struct{ account, key string }

// asked is a request of an account.
type asked struct{ account, request string }

// spending is what a key with a cap has spent and holds.
type spending struct {
	account int64
	credits.Spent
	held  int64
	dirty bool
}

// settled is the result of a hold.
type settled struct {
	account string
	charged int64 // credits
	until   time.Time
}

type entry struct {
	account int64
	credits.Entry
}

func newBatch(db *DB, t *tx) *batch {
	return &batch{
		db: db, tx: t,
		accounts: map[string]*account{}, holds: map[string]*hold{}, charged: map[string]settled{},
		spent: map[spender]*spending{}, keyed: map[keyed]credits.Receipt{}, ended: map[string]settled{},
		requests: map[asked]int64{},
	}
}

func (b *batch) run(ctx context.Context, ops []op) error {
	w := &wanted{
		unsure: b.tx.unsure, accounts: map[string]bool{}, spenders: map[spender]bool{}, keyed: map[keyed]bool{},
		requests: map[asked]bool{},
	}
	for _, o := range ops {
		o.wants(w)
	}
	for _, read := range []func(context.Context, *wanted) error{b.read, b.sweep, b.readCharged} {
		if err := read(ctx, w); err != nil {
			return err
		}
	}
	for _, o := range ops {
		if err := o.decide(ctx, b); err != nil {
			return err
		}
	}
	return b.write(ctx)
}

// sweep removes the expired holds of those accounts that may have some.
func (b *batch) sweep(ctx context.Context, _ *wanted) error {
	byNo := map[int64]*account{}
	var nos []int64
	for _, a := range b.accounts {
		if a.first != 0 && a.first <= b.now.UnixNano() {
			byNo[a.no] = a
			nos = append(nos, a.no)
			a.first, a.dirty = 0, true
		}
	}
	if len(nos) == 0 {
		return nil
	}
	type sum struct {
		account int64
		key     string
		amount  int64
	}
	var gone []sum
	err := b.tx.step(ctx, func(q *pgx.Batch) {
		q.Queue(b.db.sql("DELETE FROM @holds WHERE account = ANY ($1) AND expires <= $2 RETURNING account, key, amount"),
			nos, b.now.UnixNano()).Query(func(rows pgx.Rows) error {
			var err error
			gone, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (s sum, err error) {
				return s, row.Scan(&s.account, &s.key, &s.amount)
			})
			return err
		})
		q.Queue(b.db.sql("SELECT account, min(expires) FROM @holds WHERE account = ANY ($1) GROUP BY account"), nos).
			Query(func(rows pgx.Rows) error {
				var no, first int64
				_, err := pgx.ForEachRow(rows, []any{&no, &first}, func() error {
					byNo[no].first = first
					return nil
				})
				return err
			})
	})
	for _, s := range gone {
		if err == nil {
			a := byNo[s.account]
			a.held -= s.amount
			err = b.holdMore(ctx, a, s.key, -s.amount)
		}
	}
	return err
}

func fromMicros(n int64) time.Time { return time.UnixMicro(n).UTC() }

func fromNanos(n int64) time.Time { return time.Unix(0, n).UTC() }
