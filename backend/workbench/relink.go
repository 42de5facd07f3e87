package workbench

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/backend"
)

// identitySetting is followed by a folder: what is known of it, to find its
// sessions again when it was moved.
const identitySetting = "folder_identity:"

// Limits of the folders that are compared with an opened one, and of those whose
// sessions the user left where they are.
const (
	maxMovedFolders = 1000
	maxLeft         = 100
)

// folderRecord is that setting's value.
type folderRecord struct {
	project.Identity
	// Left are folders whose sessions the user did not want here.
	Left []string `json:"left,omitempty"`
}

// relinked is what was brought over last, so that it can be taken back.
type relinked struct {
	mu   sync.Mutex
	from string
	ids  []string
}

// movedHere looks for sessions of a folder that does not exist any more and
// seems to have been this one. It first notes what this folder is known by.
func (w *Workbench) movedHere(ctx context.Context, _ backend.Empty) (MovedFolder, error) {
	if w.cfg.Store.Health().ReadOnly {
		return MovedFolder{}, nil
	}
	folders, err := w.cfg.Store.Folders(ctx, maxMovedFolders)
	if err != nil {
		return MovedFolder{}, err
	}
	record, known, err := w.folderRecord(ctx, w.cfg.Folder)
	if err != nil {
		return MovedFolder{}, err
	}
	used := slices.ContainsFunc(folders, func(f backend.SessionFolder) bool { return f.Folder == w.cfg.Folder })
	if used && record.Root != "" {
		return MovedFolder{}, nil // it is known well enough
	}
	here := project.Identify(ctx, w.cfg.Folder)
	if !known || here != record.Identity {
		record.Identity = here
		if err := w.setFolderRecord(ctx, record); err != nil {
			return MovedFolder{}, err
		}
	}
	if used {
		return MovedFolder{}, nil
	}
	best := MovedFolder{}
	for _, f := range folders { // the one that was used last first
		if slices.Contains(record.Left, f.Folder) || f.Sessions == 0 {
			continue
		}
		by, err := w.matchReason(ctx, here, f.Folder)
		if err != nil {
			return MovedFolder{}, err
		}
		// Folders may be on disks that do not answer, so few are looked at.
		if rank[by] > rank[best.By] && isMissing(f.Folder) {
			best = MovedFolder{Folder: f.Folder, Sessions: f.Sessions, By: by}
		}
	}
	return best, nil
}

// rank orders the reasons to take a folder for another one.
var rank = map[string]int{"name": 1, "root": 2, "marker": 3}

// matchReason says why this folder may be one that is missing; empty if nothing speaks
// for it. Of a folder that only older versions worked in, only the name is known.
func (w *Workbench) matchReason(ctx context.Context, here project.Identity, folder string) (by string, err error) {
	record, known, err := w.folderRecord(ctx, folder)
	if err != nil {
		return "", err
	}
	if by, same := here.Is(record.Identity); same {
		return by, nil
	}
	if !known && filepath.Base(folder) == filepath.Base(w.cfg.Folder) {
		return "name", nil
	}
	return "", nil
}

func isMissing(folder string) bool {
	_, err := os.Lstat(folder)
	return errors.Is(err, fs.ErrNotExist)
}

// folderRecord reads what is known of a folder. A damaged record counts as none.
func (w *Workbench) folderRecord(ctx context.Context, folder string) (r folderRecord, known bool, err error) {
	text, err := w.cfg.Store.Setting(ctx, identitySetting+folder)
	if e := (*backend.Error)(nil); errors.As(err, &e) && e.ID == backend.ProblemSettingDamaged {
		return r, false, nil
	}
	if err != nil || text == "" {
		return r, false, err
	}
	known = json.Unmarshal([]byte(text), &r) == nil
	return r, known, nil
}

func (w *Workbench) setFolderRecord(ctx context.Context, r folderRecord) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return w.cfg.Store.SetSetting(ctx, identitySetting+w.cfg.Folder, string(b))
}

// bringOver takes the sessions of a folder that does not exist any more to this one.
func (w *Workbench) bringOver(ctx context.Context, in MovedFolder) (MovedFolder, error) {
	if !isMissing(in.Folder) {
		return MovedFolder{}, backend.Problem(backend.ProblemNothingToMove, in.Folder)
	}
	ids, err := w.cfg.Store.Move(ctx, in.Folder, w.cfg.Folder)
	if err != nil {
		return MovedFolder{}, err
	}
	if len(ids) == 0 {
		return MovedFolder{}, backend.Problem(backend.ProblemNothingToMove, in.Folder)
	}
	w.relinked.mu.Lock()
	defer w.relinked.mu.Unlock()
	w.relinked.from, w.relinked.ids = in.Folder, ids
	return MovedFolder{Folder: in.Folder, Sessions: len(ids)}, nil
}

// takeBack undoes the last bringOver of this process.
func (w *Workbench) takeBack(ctx context.Context, _ backend.Empty) (MovedFolder, error) {
	w.relinked.mu.Lock()
	defer w.relinked.mu.Unlock()
	if len(w.relinked.ids) == 0 {
		return MovedFolder{}, backend.Problem(backend.ProblemNotMoved)
	}
	ids, err := w.cfg.Store.Move(ctx, w.cfg.Folder, w.relinked.from, w.relinked.ids...)
	if err != nil {
		return MovedFolder{}, err
	}
	back := MovedFolder{Folder: w.relinked.from, Sessions: len(ids)}
	w.relinked.ids = nil
	return back, nil
}

// leaveThere remembers that the sessions of a folder do not belong here.
func (w *Workbench) leaveThere(ctx context.Context, in MovedFolder) (backend.Empty, error) {
	record, _, err := w.folderRecord(ctx, w.cfg.Folder)
	if err != nil || slices.Contains(record.Left, in.Folder) {
		return backend.Empty{}, err
	}
	record.Left = append(record.Left[max(0, len(record.Left)+1-maxLeft):], in.Folder)
	return backend.Empty{}, w.setFolderRecord(ctx, record)
}

// MovedFolder is a folder that does not exist any more, whose sessions seem to
// belong to this project.
type MovedFolder struct {
	Folder   string `json:"folder,omitempty"` // empty if there is none
	Sessions int    `json:"sessions,omitempty"`
	// By is how it is known: "marker", "root" or "name".
	By string `json:"by,omitempty"`
}
