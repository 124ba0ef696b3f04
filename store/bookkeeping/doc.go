// Package bookkeeping is what the books of a store are outside any store: the lines that an export is made of and an import
// is read from, the audit that proves them, and the heads that an audit is checked against.
//
// A store of any technology streams its accounts, keys and entries through a [Writer], an [Auditor] or a [HeadsWriter],
// and reads what another store wrote with [Read]. So books move from one store to another, and prove the same in both.
package bookkeeping
