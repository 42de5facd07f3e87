// Package unsent keeps what the user has typed and not sent: drafts, comments on
// lines, edits of earlier prompts. It is kept in the database, so that it outlives
// the page and the address of a server.
//
// Texts that two pages wrote are joined.
package unsent
