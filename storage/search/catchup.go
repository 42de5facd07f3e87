package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// Limits of one transaction, and of one read of a log.
const (
	batchBytes = 4 << 20
	batchLogs  = 500
	pageEvents = 200
)

// unread stands for the time of an event that cannot be read.
const unread = -1

// known says how far a session is indexed.
type known struct {
	id                  int64
	folder              string
	seq, readAt, headAt int64
	model               string
	copied              int64
}

// catchUp indexes what is new in all logs, those of the newest sessions first.
func (ix *Index) catchUp(ctx context.Context) error {
	version, err := ix.log.Version(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the logs: %w", err)
	}
	if version == ix.db.seen {
		return nil
	}
	defer ix.behind.Store(0)
	heads, err := ix.log.Heads(ctx)
	if err != nil {
		return fmt.Errorf("list the logs: %w", err)
	}
	if ix.db.have == nil {
		if ix.db.have, err = ix.known(ctx); err != nil {
			return err
		}
	}
	lost := maps.Clone(ix.db.have)
	stale := heads[:0]
	for _, head := range heads {
		k, ok := lost[head.Session]
		delete(lost, head.Session)
		if !ok || k.seq != head.Seq || k.headAt != head.UpdatedAt || k.folder != head.Folder {
			stale = append(stale, head)
		}
	}
	if err := ix.forget(ctx, lost); err != nil {
		return err
	}
	slices.SortFunc(stale, func(a, b backend.LogHead) int { return cmp.Compare(b.UpdatedAt, a.UpdatedAt) })
	ix.behind.Store(int64(len(stale)))
	var b batch
	for i, head := range stale {
		if err := ix.readOn(ctx, head, &b); errors.Is(err, errUnread) && ctx.Err() == nil {
			slog.Warn("could not index a session", "session", head.Session, "err", err) // the others can be
		} else if err != nil {
			return err
		}
		if len(b.parts) < batchLogs && b.bytes < batchBytes {
			continue
		}
		if err := ix.write(ctx, &b); err != nil {
			return err
		}
		ix.behind.Store(int64(len(stale) - i - 1))
	}
	if err := ix.write(ctx, &b); err != nil {
		return err
	}
	ix.db.seen = version
	return nil
}

// known reads how far each session is indexed.
func (ix *Index) known(ctx context.Context) (map[string]known, error) {
	rows, err := ix.db.read.QueryContext(ctx, "SELECT name, id, folder, seq, read_at, head_at, model, copied FROM sessions")
	if err != nil {
		return nil, fmt.Errorf("read the search index: %w", err)
	}
	defer rows.Close()
	out := map[string]known{}
	for rows.Next() {
		var name string
		var k known
		if err := rows.Scan(&name, &k.id, &k.folder, &k.seq, &k.readAt, &k.headAt, &k.model, &k.copied); err != nil {
			return nil, fmt.Errorf("read the search index: %w", err)
		}
		out[name] = k
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the search index: %w", err)
	}
	return out, nil
}

// errUnread says that a log cannot be read.
var errUnread = errors.New("read a log")

// batch is what one transaction writes.
type batch struct {
	parts []part
	bytes int
}

// part is a part of one log. It continues what was indexed up to from; a part that
// begins a log replaces what was indexed of the session.
type part struct {
	info   backend.SessionInfo
	from   int64
	seq    int64
	readAt int64
	headAt int64
	model  string
	copied int64
	docs   []doc
}

// readOn reads what is new in one log. Texts beyond the batch's size are written at
// once, so that a long log takes little memory.
func (ix *Index) readOn(ctx context.Context, head backend.LogHead, b *batch) error {
	info, err := ix.log.Session(ctx, head.Session)
	if gone(err) {
		return nil // it was deleted just now
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errUnread, err)
	}
	k, err := ix.startOf(ctx, info)
	if err != nil {
		return err
	}
	p := part{info: info, from: k.seq, seq: k.seq, readAt: k.readAt, headAt: info.UpdatedAt, model: k.model, copied: k.copied}
	for {
		events, err := ix.log.Events(ctx, backend.EventRange{Session: info.ID, After: p.seq, Before: info.Seq + 1, Limit: pageEvents})
		if err != nil {
			return fmt.Errorf("%w: %w", errUnread, err)
		}
		if len(events) == 0 {
			break
		}
		for _, ev := range events {
			b.bytes += p.take(ev)
		}
		if b.bytes >= batchBytes {
			b.parts = append(b.parts, p)
			if err := ix.write(ctx, b); err != nil {
				return err
			}
			p.from, p.docs = p.seq, nil
		}
	}
	if p.seq < info.Seq { // the end of the log is damaged
		p.seq, p.readAt = info.Seq, unread
	}
	b.parts = append(b.parts, p)
	return nil
}

// take adds the texts of an event. It returns their size.
func (p *part) take(ev agent.Event) (size int) {
	p.model = modelOf(ev, p.model)
	if _, ok := ev.Data.(agent.Forked); ok {
		p.copied = ev.Seq
	}
	for _, d := range docsOf(ev, p.model, p.info.Folder) {
		size += len(d.text)
		p.docs = append(p.docs, d)
	}
	p.seq, p.readAt = ev.Seq, ev.At
	if w, ok := ev.Data.(agent.Warning); ok && w.Code == agent.WarningDamaged {
		p.seq, p.readAt = lastLost(w, ev.Seq), unread
	}
	return size
}

// lastLost returns the last of the events that an [agent.Lost] stands for.
func lastLost(w agent.Warning, first int64) int64 {
	if w.ID == agent.WarnDamagedEvents && len(w.Args) == 3 {
		if last, err := strconv.ParseInt(w.Args[2], 10, 64); err == nil {
			return max(first, last)
		}
	}
	return first
}

// startOf returns how far a session is indexed: not at all if its log is another
// one than it was.
func (ix *Index) startOf(ctx context.Context, info backend.SessionInfo) (known, error) {
	var k known
	err := ix.db.read.QueryRowContext(ctx, "SELECT id, folder, seq, read_at, head_at, model, copied FROM sessions WHERE name = ?", info.ID).
		Scan(&k.id, &k.folder, &k.seq, &k.readAt, &k.headAt, &k.model, &k.copied)
	if isNone(err) {
		return known{}, nil
	}
	if err != nil {
		return known{}, fmt.Errorf("read the search index: %w", err)
	}
	if k.seq == 0 || k.seq > info.Seq || k.seq == info.Seq && k.headAt != info.UpdatedAt {
		return known{}, nil
	}
	last, err := ix.log.Events(ctx, backend.EventRange{Session: info.ID, After: k.seq - 1, Before: k.seq + 1})
	if err != nil {
		return known{}, fmt.Errorf("%w: %w", errUnread, err)
	}
	if k.readAt != unread && (len(last) != 1 || last[0].At != k.readAt) {
		return known{}, nil
	}
	return k, nil
}

// gone reports whether a session does not exist any more.
func gone(err error) bool {
	var e *backend.Error
	return errors.As(err, &e) && e.Code == backend.CodeNotFound
}

// tagsOf returns a session's tags as filters compare them.
func tagsOf(info backend.SessionInfo) string {
	var b strings.Builder
	b.WriteByte('\n')
	for _, tag := range info.Marks.Tags {
		b.WriteString(fold(strings.ToValidUTF8(tag, "�")) + "\n")
	}
	return b.String()
}
