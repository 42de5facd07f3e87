package storage

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"hash/crc64"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

type scanner interface{ Scan(...any) error }

// sessionRow is a session's row in the stored form.
type sessionRow struct {
	info            backend.SessionInfo
	settings, usage string
	helper, parent  sql.NullString
	details         string
}

// sessionDetails is the column of that name: what no query selects by.
type sessionDetails struct {
	Messages int                `json:"messages"`
	Prompt   string             `json:"prompt,omitempty"`
	Marks    agent.SessionMarks `json:"marks,omitzero"`
	Origin   *agent.ForkOrigin  `json:"origin,omitempty"`
	Worktree string             `json:"worktree,omitempty"`
	Places   map[int64]string   `json:"places,omitempty"`
	Rewound  []backend.Span     `json:"rewound,omitempty"`
	Skills   []agent.SkillUse   `json:"skills,omitempty"`
	Kept     []backend.KeptAt   `json:"kept,omitempty"`
	Imported *agent.Imported    `json:"imported,omitempty"`
	// Uncompacted is [backend.SessionInfo.Uncompacted].
	Uncompacted []int64 `json:"uncompacted,omitempty"`
}

// values returns all columns but the checksum, in the order of the queries.
func (r *sessionRow) values() []any {
	i := &r.info
	return []any{
		i.ID, i.Folder, i.Title, string(i.State), r.settings, i.CreatedAt, i.UpdatedAt, i.Seq, string(i.LastEnd), r.usage,
		i.Context, int64(i.Cost.Cost), i.Cost.Unknown, i.Lines.Added, i.Lines.Removed, i.Branch, r.helper, r.parent, r.details,
	}
}

// columns returns the values of a session's row, followed by the checksum.
func columns(info backend.SessionInfo) ([]any, error) {
	r := sessionRow{info: info}
	settings, err := json.Marshal(info.Settings)
	if err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	usage, err := json.Marshal(info.Usage)
	if err != nil {
		return nil, fmt.Errorf("encode usage: %w", err)
	}
	details, err := json.Marshal(sessionDetails{info.Messages, info.Prompt, info.Marks, info.Origin, info.Worktree, info.Places, info.Rewound, info.Skills, info.Kept, info.Imported, info.Uncompacted})
	if err != nil {
		return nil, fmt.Errorf("encode details: %w", err)
	}
	r.settings, r.usage, r.details = string(settings), string(usage), string(details)
	if info.Helper != nil {
		helper, err := json.Marshal(info.Helper)
		if err != nil {
			return nil, fmt.Errorf("encode helper: %w", err)
		}
		r.helper = sql.NullString{String: string(helper), Valid: true}
		r.parent = sql.NullString{String: info.Helper.Parent, Valid: true}
	}
	values := r.values()
	return append(values, sumOf(values...)), nil
}

// scanInfo reads a session's row and reports whether it is damaged. Any column
// of a damaged row may be wrong. The checksum of a newer program may cover columns
// that this one does not know, so it says nothing.
func (s *Store) scanInfo(row scanner) (info backend.SessionInfo, damaged bool, err error) {
	var r sessionRow
	i := &r.info
	var sum sql.NullInt64
	err = row.Scan(&i.ID, &i.Folder, &i.Title, &i.State, &r.settings, &i.CreatedAt, &i.UpdatedAt, &i.Seq, &i.LastEnd, &r.usage,
		&i.Context, &i.Cost.Cost, &i.Cost.Unknown,
		&i.Lines.Added, &i.Lines.Removed, &i.Branch, &r.helper, &r.parent, &r.details, &sum)
	if isConversion(err) {
		return r.info, true, nil
	}
	if err != nil {
		return r.info, false, err
	}
	damaged = !s.newer && sum.Valid && sum.Int64 != sumOf(r.values()...)
	damaged = json.Unmarshal([]byte(r.settings), &i.Settings) != nil || damaged
	damaged = json.Unmarshal([]byte(r.usage), &i.Usage) != nil || damaged
	var d sessionDetails
	damaged = json.Unmarshal([]byte(r.details), &d) != nil || damaged
	i.Messages, i.Prompt, i.Marks, i.Origin, i.Worktree, i.Places, i.Rewound, i.Skills, i.Kept, i.Imported, i.Uncompacted = d.Messages, d.Prompt, d.Marks, d.Origin, d.Worktree, d.Places, d.Rewound, d.Skills, d.Kept, d.Imported, d.Uncompacted
	if r.helper.Valid && json.Unmarshal([]byte(r.helper.String), &i.Helper) != nil {
		i.Helper, damaged = nil, true
	}
	return r.info, damaged, nil
}

// sumOf returns the checksum of a row's values.
func sumOf(values ...any) int64 {
	var b []byte
	for _, v := range values {
		b = fmt.Appendf(b, "%v\x00", v)
	}
	return int64(crc64.Checksum(b, crcTable))
}
