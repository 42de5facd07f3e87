// Package opencode reads the database in which opencode keeps its sessions. It only reads: the
// database is opened without the right to change it.
package opencode

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	_ "github.com/mattn/go-sqlite3" // the driver
)

// The limits of a database.
const (
	maxSessions = 2_000
	maxMessages = 50_000   // of a session
	maxParts    = 10_000   // of a message
	maxData     = 32 << 20 // bytes of a message or a part
)

// Session is a session in the database. Those of agents that a session started are not listed.
type Session struct {
	ID, Title, Folder string
	At                int64 // when it changed last, in milliseconds since 1970
	Size              int64 // of its messages, in bytes
}

// size is how large a session s is.
const size = `coalesce((SELECT sum(length(data)) FROM message WHERE session_id = s.id), 0) + coalesce((SELECT sum(length(data)) FROM part WHERE session_id = s.id), 0)`

func open(path string) (*sql.DB, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errors.New("there is no database of opencode"), err)
	}
	at := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&_query_only=1&_busy_timeout=2000"}
	db, err := sql.Open("sqlite3", at.String())
	if err != nil {
		return nil, fmt.Errorf("open the database of opencode: %w", err)
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// Sessions lists the sessions, the newest first. more says that there are others.
func Sessions(ctx context.Context, path string) (all []Session, more bool, err error) {
	db, err := open(path)
	if err != nil {
		return nil, false, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT id, title, directory, time_updated,
		`+size+` FROM session s WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT ?`, maxSessions+1)
	if err != nil {
		return nil, false, fmt.Errorf("list the sessions of opencode: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var s Session
		if err := rows.Scan(&s.ID, &s.Title, &s.Folder, &s.At, &s.Size); err != nil {
			return nil, false, fmt.Errorf("list the sessions of opencode: %w", err)
		}
		all = append(all, s)
	}
	if len(all) > maxSessions {
		all, more = all[:maxSessions], true
	}
	return all, more, rows.Err()
}

// Head is the first line of what [Write] writes.
type Head struct {
	Opencode string `json:"opencode"` // the session's id
	Title    string `json:"title"`
	Folder   string `json:"directory"`
	At       int64  `json:"time_updated"`
	Size     int64  `json:"size"`
}

// Message is each line after it.
type Message struct {
	ID    string            `json:"message"`
	At    int64             `json:"time_created"`
	Data  json.RawMessage   `json:"data"`
	Parts []json.RawMessage `json:"parts"`
}

// ErrNone says that the database has no such session.
var ErrNone = errors.New("opencode has no such session")

// Write writes a session as lines of JSON: its head, and its messages with their parts. What was
// taken back is left out.
func Write(ctx context.Context, path, id string, w io.Writer) error {
	db, err := open(path)
	if err != nil {
		return err
	}
	defer db.Close()
	head := Head{Opencode: id}
	var revert sql.NullString
	err = db.QueryRowContext(ctx, "SELECT title, directory, time_updated, revert, "+size+" FROM session s WHERE id = ?", id).Scan(&head.Title, &head.Folder, &head.At, &revert, &head.Size)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNone
	}
	if err != nil {
		return fmt.Errorf("read the session of opencode: %w", err)
	}
	var back struct {
		Message string `json:"messageID"`
	}
	_ = json.Unmarshal([]byte(revert.String), &back) // without one, nothing was taken back
	enc := json.NewEncoder(w)
	if err := enc.Encode(head); err != nil {
		return fmt.Errorf("write the session of opencode: %w", err)
	}
	messages, err := messages(ctx, db, id)
	if err != nil {
		return err
	}
	for _, m := range messages {
		if m.ID == back.Message {
			break
		}
		if m.Parts, err = parts(ctx, db, m.ID); err != nil {
			return err
		}
		if err := enc.Encode(m); err != nil {
			return fmt.Errorf("write the session of opencode: %w", err)
		}
	}
	return nil
}

func messages(ctx context.Context, db *sql.DB, id string) (all []Message, err error) {
	rows, err := db.QueryContext(ctx, "SELECT id, time_created, data FROM message WHERE session_id = ? AND length(data) < ? ORDER BY time_created, id LIMIT ?", id, maxData, maxMessages)
	if err != nil {
		return nil, fmt.Errorf("read the messages of opencode: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var m Message
		var data string
		if err := rows.Scan(&m.ID, &m.At, &data); err != nil {
			return nil, fmt.Errorf("read the messages of opencode: %w", err)
		}
		if json.Valid([]byte(data)) {
			m.Data = json.RawMessage(data)
			all = append(all, m)
		}
	}
	return all, rows.Err()
}

func parts(ctx context.Context, db *sql.DB, message string) (all []json.RawMessage, err error) {
	rows, err := db.QueryContext(ctx, "SELECT data FROM part WHERE message_id = ? AND length(data) < ? ORDER BY id LIMIT ?", message, maxData, maxParts)
	if err != nil {
		return nil, fmt.Errorf("read the parts of opencode: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var data string
		if err := rows.Scan(&data); err != nil {
			return nil, fmt.Errorf("read the parts of opencode: %w", err)
		}
		if json.Valid([]byte(data)) {
			all = append(all, json.RawMessage(data))
		}
	}
	return all, rows.Err()
}
