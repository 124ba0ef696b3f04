package postgres

import (
	"encoding/hex"
	"fmt"

	"github.com/socialdata/socialdata/credits"
)

const sqlDecide = "SELECT now, states, free, expires FROM @decide($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, " +
	"$14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)"

// The states of a request that was sent to the database, as they are in createDecide.
const (
	leftUndecided = iota
	carriedOut
	unpaid // the account cannot pay
)

// createDecide creates the function that decides the requests of a [direct] and writes their results. It is part of a
// migration and is never changed: a later version has a function with another name, and drops this one when no program
// that it serves calls it any more.
//
// The function first locks the accounts, in the order of their numbers. Each of its statements reads what was committed
// before it began, so what the later ones read about these accounts cannot change any more. It then decides the
// requests one by one: each sees the state after the previous one. Those that [direct] leaves to a batch it leaves
// undecided. A charge without a hold is not made when there is a hold with its id: see settlement.asks.
//
// One statement with a recursive query, which this replaces, took twice the processor time: PostgreSQL sets up the
// whole plan for each execution, and looks for the next request of each account among all requests.
var createDecide = fmt.Sprintf(`
	CREATE FUNCTION @decide(
		in_clock BIGINT, in_accounts TEXT[],
		in_owner INT[], in_owner_key TEXT[], -- spenders: keys of accounts
		-- Requests. Accounts, spenders and requests are referred to by their positions, from 1.
		in_account INT[], in_spender INT[], in_pay BIGINT[], in_take BIGINT[], in_ttl BIGINT[], in_holds INT[],
		in_release TEXT[], in_key TEXT[], in_once TEXT[], in_operation TEXT[], in_platform TEXT[], in_request TEXT[],
		in_cache TEXT[], in_hold TEXT[], in_day_cap BIGINT[], in_total_cap BIGINT[], in_texts BYTEA[],
		in_hold_of INT[], in_hold_id TEXT[], in_hold_amount BIGINT[], -- holds to make, by request
		OUT now BIGINT, OUT states INT2[], OUT free BIGINT[], OUT expires BIGINT[]
	) LANGUAGE plpgsql
	-- Plans are made once, often while the tables are still empty.
	SET enable_seqscan = off SET plan_cache_mode = force_generic_plan SET jit = off
	AS $decide$
	#variable_conflict use_column
	DECLARE
		a RECORD;
		s RECORD;
		r RECORD;
		k INT; -- position of the account
		p INT; -- position of the spender; 0 for none
		day_now BIGINT;
		able BOOLEAN;
		paid BOOLEAN := false;
		made BOOLEAN := false;
		released BOOLEAN := false;
		spent BOOLEAN := false;
		-- By account. Requests of those without a number are left undecided.
		nos BIGINT[] := array_fill(NULL::bigint, ARRAY[cardinality(in_accounts)]);
		ats BIGINT[] := nos;
		seqs BIGINT[] := nos;
		balances BIGINT[] := nos;
		helds BIGINT[] := nos;
		firsts BIGINT[] := nos;
		hashes BYTEA[] := array_fill(NULL::bytea, ARRAY[cardinality(in_accounts)]);
		changed BOOLEAN[] := array_fill(false, ARRAY[cardinality(in_accounts)]);
		-- By spender, for those whose spending is tracked.
		totals BIGINT[] := array_fill(NULL::bigint, ARRAY[cardinality(in_owner)]);
		days BIGINT[] := totals;
		todays BIGINT[] := totals;
		holdings BIGINT[] := totals;
		-- By request, for those with an entry.
		new_seqs BIGINT[] := array_fill(NULL::bigint, ARRAY[cardinality(in_account)]);
		new_balances BIGINT[] := new_seqs;
		new_hashes BYTEA[] := array_fill(NULL::bytea, ARRAY[cardinality(in_account)]);
	BEGIN
		states := array_fill(0::int2, ARRAY[cardinality(in_account)]);
		free := array_fill(0::bigint, ARRAY[cardinality(in_account)]);
		expires := new_seqs;
		FOR a IN
			SELECT u.k, no, seq, balance, held, first, at, hash
			FROM unnest(in_accounts) WITH ORDINALITY AS u (id, k) JOIN @accounts AS a USING (id)
			ORDER BY no FOR NO KEY UPDATE OF a
		LOOP
			k := a.k;
			nos[k] := a.no;
			ats[k] := a.at;
			seqs[k] := a.seq;
			balances[k] := a.balance;
			helds[k] := a.held;
			firsts[k] := a.first;
			hashes[k] := CASE WHEN a.seq = 0 THEN decode(repeat('00', 32), 'hex') ELSE a.hash END;
		END LOOP;
		now := coalesce(in_clock, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000);
		day_now := now / 86400000000000;
		FOR k IN 1 .. cardinality(nos) LOOP
			IF ats[k] > now / 1000 OR firsts[k] <> 0 AND firsts[k] <= now THEN
				nos[k] := NULL;
			END IF;
		END LOOP;
		IF cardinality(in_owner) > 0 THEN
			FOR s IN
				SELECT u.p, t.total, t.day, t.today, t.held
				FROM unnest(in_owner, in_owner_key) WITH ORDINALITY AS u (k, key, p) CROSS JOIN LATERAL (
					SELECT total, day, today, held FROM @spending WHERE account = nos[u.k] AND key = u.key LIMIT 1
				) AS t
			LOOP
				p := s.p;
				totals[p] := s.total;
				days[p] := s.day;
				todays[p] := s.today;
				holdings[p] := s.held;
			END LOOP;
		END IF;

		FOR r IN
			SELECT o.*, h.key AS hold_key, h.amount AS hold_amount, h.expires AS hold_expires
			FROM unnest(in_account, in_spender, in_pay, in_take, in_ttl, in_holds, in_release, in_key, in_once, in_hold,
					in_day_cap, in_total_cap, in_texts) WITH ORDINALITY
				AS o (k, p, pay, take, ttl, holds, release, key, once, hold, day_cap, total_cap, texts, i)
				LEFT JOIN LATERAL (
					SELECT key, amount, expires FROM @holds WHERE account = nos[o.k] AND id = o.hold AND expires > now LIMIT 1
				) AS h ON o.hold <> ''
			ORDER BY o.i
		LOOP
			k := r.k;
			p := r.p;
			CONTINUE WHEN nos[k] IS NULL;
			IF r.release <> '' THEN
				able := r.hold_key = r.key AND r.pay BETWEEN 0 AND r.hold_amount;
			ELSE
				able := r.hold_key IS NULL
					AND (r.day_cap IS NULL OR holdings[p] + r.pay + r.take
						+ CASE WHEN day_now IN (days[p], days[p] - 1) THEN todays[p] ELSE 0 END <= r.day_cap)
					AND (r.total_cap IS NULL OR totals[p] + holdings[p] + r.pay + r.take <= r.total_cap);
			END IF;
			IF able AND r.once <> '' AND r.pay > 0 THEN
				able := NOT EXISTS (
					SELECT 1 FROM @entries WHERE account = nos[k] AND idempotency_key = r.once AND idempotency_key <> ''
				);
			END IF;
			CONTINUE WHEN able IS NOT TRUE;
			IF r.release = '' AND r.pay + r.take > balances[k] - helds[k] THEN
				states[r.i] := 2;
				free[r.i] := balances[k] - helds[k];
				CONTINUE;
			END IF;

			states[r.i] := 1;
			changed[k] := true;
			IF r.release <> '' THEN
				released := true;
				helds[k] := helds[k] - r.hold_amount;
				expires[r.i] := r.hold_expires;
			END IF;
			IF r.holds > 0 THEN
				made := true;
				helds[k] := helds[k] + r.take;
				firsts[k] := least(nullif(firsts[k], 0), now + r.ttl);
			END IF;
			IF r.pay > 0 THEN
				paid := true;
				seqs[k] := seqs[k] + 1;
				balances[k] := balances[k] - r.pay;
				hashes[k] := sha256('\x%s'::bytea || hashes[k] || int8send(seqs[k]) || int8send(-r.pay) || int8send(balances[k])
					|| int8send(now / 1000) || r.texts);
				new_seqs[r.i] := seqs[k];
				new_balances[r.i] := balances[k];
				new_hashes[r.i] := hashes[k];
			END IF;
			free[r.i] := balances[k] - helds[k];
			IF holdings[p] IS NOT NULL THEN
				spent := true;
				holdings[p] := holdings[p] + r.take - CASE WHEN r.release <> '' THEN r.hold_amount ELSE 0 END;
				IF r.pay > 0 THEN
					IF day_now NOT IN (days[p], days[p] - 1) THEN
						days[p] := day_now;
						todays[p] := 0;
					END IF;
					totals[p] := totals[p] + r.pay;
					todays[p] := todays[p] + r.pay;
				END IF;
			END IF;
		END LOOP;

		IF paid THEN
			INSERT INTO @entries (account, seq, kind, amount, balance, key, operation, platform, request_id, cache, reason, hold,
				idempotency_key, at, clock, hash)
			SELECT nos[o.k], o.seq, 'charge', -o.pay, o.balance, o.key, o.operation, o.platform, o.request, o.cache, '', o.hold,
				o.once, now / 1000, NULL, o.hash
			FROM unnest(in_account, new_seqs, in_pay, new_balances, in_key, in_operation, in_platform, in_request, in_cache,
					in_hold, in_once, new_hashes)
				AS o (k, seq, pay, balance, key, operation, platform, request, cache, hold, once, hash)
			WHERE o.seq IS NOT NULL;
		END IF;
		IF released THEN
			DELETE FROM @holds AS h USING unnest(in_account, in_release, states) AS o (k, id, state)
			WHERE o.state = 1 AND o.id <> '' AND h.account = nos[o.k] AND h.id = o.id;
		END IF;
		IF made THEN
			INSERT INTO @holds (account, id, key, amount, expires)
			SELECT nos[in_account[h.i]], h.id, in_key[h.i], h.amount, now + in_ttl[h.i]
			FROM unnest(in_hold_of, in_hold_id, in_hold_amount) AS h (i, id, amount) WHERE states[h.i] = 1;
		END IF;
		UPDATE @accounts AS a SET seq = u.seq, balance = u.balance, held = u.held, hash = u.hash,
			at = CASE WHEN u.seq > a.seq THEN now / 1000 ELSE a.at END,
			first = CASE WHEN u.held = 0 THEN 0 ELSE u.first END
		FROM unnest(nos, seqs, balances, helds, firsts, hashes, changed) AS u (no, seq, balance, held, first, hash, changed)
		WHERE u.changed AND a.no = u.no;
		IF spent THEN
			UPDATE @spending AS s SET total = u.total, day = u.day, today = u.today, held = u.held
			FROM unnest(in_owner, in_owner_key, totals, days, todays, holdings) AS u (k, key, total, day, today, held)
			WHERE s.account = nos[u.k] AND s.key = u.key AND u.held IS NOT NULL;
		END IF;
	END
	$decide$`, hex.EncodeToString([]byte(credits.EntryForm)))
