// Package bookkeeping holds what is independent of the kind of store: the lines of exports and imports, the audit, and
// the heads that an audit is compared with.
//
// Every store passes its accounts, keys and entries to a [Writer], an [Auditor] or a [HeadsWriter], and reads what
// another store wrote with [Read]. So data can move between stores, and is audited in the same way in all of them.
package bookkeeping
