//go:build !sqlite_fts5 && !fts5

package search

// built says that SQLite has no full-text search in this build.
const built = false
