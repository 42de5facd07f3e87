package backend

import "context"

// SessionFolder is a project folder as sessions name it.
type SessionFolder struct {
	Folder   string `json:"folder"`
	Sessions int    `json:"sessions"` // those that people started
	// UpdatedAt is when one of them was used last, in milliseconds since 1970.
	UpdatedAt int64 `json:"updated_at"`
}

// Mover moves sessions from one project folder to another.
type Mover interface {
	// Folders lists the folders that have sessions, the one that was used last
	// first.
	Folders(ctx context.Context, limit int) ([]SessionFolder, error)
	// Move takes sessions of a folder to another one, in one transaction: those with
	// the ids, or all if there are none. What they cost moves along. It returns the
	// ids. It returns CodeBusy if one of them is running.
	Move(ctx context.Context, from, to string, ids ...string) ([]string, error)
}
