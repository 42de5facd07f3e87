package undo

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"syscall"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/undo/disk"
)

// Carry carries out a restoration that was prepared, and returns what was done. A file
// that has changed since, or that cannot be written, stays as it is and becomes a
// conflict; the others are restored all the same.
func (f *Folder) Carry(ctx context.Context, r agent.FilesRestored) agent.FilesRestored {
	done := r
	stays := make([]bool, len(r.Files))
	among := casesOf(r.Files)
	for _, i := range inOrder(r.Files) {
		reason := f.put(ctx, r.Files[i], token(r, i))
		if reason != "" && !f.is(r.Files[i].Path, among, r.Files[i].After) { // else it failed when that was done
			leave(&done, r.Files[i].Path, reason)
			stays[i] = true
		}
	}
	done.Files = nil
	for i, record := range r.Files {
		if !stays[i] {
			done.Files = append(done.Files, record)
		}
	}
	return done
}

// inOrder returns the places of records, which are ordered by their paths, in the order
// in which they are carried out. Names become free before others are taken: a file
// goes before the folder that it is in, and both before what takes the folder's name.
func inOrder(records []agent.FileRecord) []int {
	var going, coming []int
	for i, r := range records {
		if r.After.Exists() {
			coming = append(coming, i)
		} else {
			going = append(going, i)
		}
	}
	slices.Reverse(going)
	return append(going, coming...)
}

// put puts the new version of a record in place of the old one. It returns why it did
// not.
func (f *Folder) put(ctx context.Context, r agent.FileRecord, token string) agent.ConflictReason {
	then, reason, err := f.load(ctx, r.After)
	if err != nil {
		return agent.ConflictRefused
	}
	if reason != "" {
		return reason
	}
	err = f.disk.Put(changes.Unquote(r.Path), token, r.Before, then)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, disk.ErrChanged):
		return agent.ConflictChanged
	case errors.Is(err, disk.ErrOccupied):
		return agent.ConflictOccupied
	case errors.Is(err, disk.ErrLinked):
		return agent.ConflictLinked
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return agent.ConflictFull
	}
	slog.Warn("restoring a file failed", "path", r.Path, "err", err)
	return agent.ConflictRefused
}

// leave enters a file that stays as it is.
func leave(r *agent.FilesRestored, path string, reason agent.ConflictReason) {
	r.Conflicts = slices.DeleteFunc(slices.Clone(r.Conflicts), func(c agent.RestoreConflict) bool { return c.Path == path })
	r.Conflicts = append(r.Conflicts, agent.RestoreConflict{Path: path, Reason: reason})
	r.Partly = slices.DeleteFunc(slices.Clone(r.Partly), func(p string) bool { return p == path })
}

// token names the temporary files of a restoration's record.
func token(r agent.FilesRestored, i int) string { return r.ID + "-" + strconv.Itoa(i) }

// Recover returns what was done of a restoration that a crash may have cut off, and
// removes what it left behind. A file that is neither as it was nor as it should
// be was changed since; it counts as restored if it cannot be told, because then
// redoing and undoing merge it.
func (f *Folder) Recover(r agent.FilesRestored) agent.FilesRestored {
	done := r
	done.Files = nil
	among := casesOf(r.Files)
	for i, record := range r.Files {
		name := changes.Unquote(record.Path)
		if err := f.disk.Clear(name, token(r, i), record.Before, record.After); err != nil {
			slog.Warn("could not clear up after a restoration that was cut off", "path", record.Path, "err", err)
		}
		if now, err := f.read(record.Path, among); stands(record, now, err) {
			leave(&done, record.Path, agent.ConflictRefused)
			continue
		}
		done.Files = append(done.Files, record)
	}
	return done
}

// stands reports whether a file is surely as it was before a restoration, given what was
// read of it. What was not there is not there either while a folder has its name, or a
// link that of a folder above it.
func stands(r agent.FileRecord, now disk.Content, err error) bool {
	if !r.Before.Exists() && (now.Other || errors.Is(err, disk.ErrBehindLink)) {
		return true
	}
	return err == nil && now.Is(r.Before)
}

func casesOf(records []agent.FileRecord) cases {
	among := cases{}
	for _, r := range records {
		among.add(r.Path)
	}
	return among
}

// is reports whether a file is a version.
func (f *Folder) is(path string, among cases, v agent.FileVersion) bool {
	now, err := f.read(path, among)
	return err == nil && now.Is(v)
}
