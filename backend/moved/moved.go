package moved

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
	"atelier.dev/atelier/backend/dispatch"
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

// Sessions brings sessions over to a folder. It is safe for concurrent use.
type Sessions struct {
	store  backend.Store
	folder string

	mu   sync.Mutex
	from string   // the folder that was brought over last, so that it can be taken back
	ids  []string // its sessions
}

// New returns what brings sessions over to a folder.
func New(store backend.Store, folder string) *Sessions {
	return &Sessions{store: store, folder: folder}
}

// Register registers the methods of folders that were moved.
func (s *Sessions) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "project.moved", s.find)
	dispatch.Handle(d, "project.bring_over", s.bringOver)
	dispatch.Handle(d, "project.take_back", s.takeBack)
	dispatch.Handle(d, "project.leave_there", s.leaveThere)
}

// find looks for sessions of a folder that does not exist any more and
// seems to have been this one. It first notes what this folder is known by.
func (s *Sessions) find(ctx context.Context, _ backend.Empty) (MovedFolder, error) {
	if s.store.Health().ReadOnly {
		return MovedFolder{}, nil
	}
	folders, err := s.store.Folders(ctx, maxMovedFolders)
	if err != nil {
		return MovedFolder{}, err
	}
	record, known, err := s.record(ctx, s.folder)
	if err != nil {
		return MovedFolder{}, err
	}
	used := slices.ContainsFunc(folders, func(f backend.SessionFolder) bool { return f.Folder == s.folder })
	if used && record.Root != "" {
		return MovedFolder{}, nil // it is known well enough
	}
	here := project.Identify(ctx, s.folder)
	if !known || here != record.Identity {
		record.Identity = here
		if err := s.setRecord(ctx, record); err != nil {
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
		by, err := s.matchReason(ctx, here, f.Folder)
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
func (s *Sessions) matchReason(ctx context.Context, here project.Identity, folder string) (by string, err error) {
	record, known, err := s.record(ctx, folder)
	if err != nil {
		return "", err
	}
	if by, same := here.Is(record.Identity); same {
		return by, nil
	}
	if !known && filepath.Base(folder) == filepath.Base(s.folder) {
		return "name", nil
	}
	return "", nil
}

func isMissing(folder string) bool {
	_, err := os.Lstat(folder)
	return errors.Is(err, fs.ErrNotExist)
}

// folderRecord reads what is known of a folder. A damaged record counts as none.
func (s *Sessions) record(ctx context.Context, folder string) (r folderRecord, known bool, err error) {
	text, err := s.store.Setting(ctx, identitySetting+folder)
	if e := (*backend.Error)(nil); errors.As(err, &e) && e.ID == backend.ProblemSettingDamaged {
		return r, false, nil
	}
	if err != nil || text == "" {
		return r, false, err
	}
	known = json.Unmarshal([]byte(text), &r) == nil
	return r, known, nil
}

func (s *Sessions) setRecord(ctx context.Context, r folderRecord) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.store.SetSetting(ctx, identitySetting+s.folder, string(b))
}

// bringOver takes the sessions of a folder that does not exist any more to this one.
func (s *Sessions) bringOver(ctx context.Context, in MovedFolder) (MovedFolder, error) {
	if !isMissing(in.Folder) {
		return MovedFolder{}, backend.Problem(backend.ProblemNothingToMove, in.Folder)
	}
	ids, err := s.store.Move(ctx, in.Folder, s.folder)
	if err != nil {
		return MovedFolder{}, err
	}
	if len(ids) == 0 {
		return MovedFolder{}, backend.Problem(backend.ProblemNothingToMove, in.Folder)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.from, s.ids = in.Folder, ids
	return MovedFolder{Folder: in.Folder, Sessions: len(ids)}, nil
}

// takeBack undoes the last bringOver of this process.
func (s *Sessions) takeBack(ctx context.Context, _ backend.Empty) (MovedFolder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) == 0 {
		return MovedFolder{}, backend.Problem(backend.ProblemNotMoved)
	}
	ids, err := s.store.Move(ctx, s.folder, s.from, s.ids...)
	if err != nil {
		return MovedFolder{}, err
	}
	back := MovedFolder{Folder: s.from, Sessions: len(ids)}
	s.ids = nil
	return back, nil
}

// leaveThere remembers that the sessions of a folder do not belong here.
func (s *Sessions) leaveThere(ctx context.Context, in MovedFolder) (backend.Empty, error) {
	record, _, err := s.record(ctx, s.folder)
	if err != nil || slices.Contains(record.Left, in.Folder) {
		return backend.Empty{}, err
	}
	record.Left = append(record.Left[max(0, len(record.Left)+1-maxLeft):], in.Folder)
	return backend.Empty{}, s.setRecord(ctx, record)
}

// MovedFolder is a folder that does not exist any more, whose sessions seem to
// belong to this project.
type MovedFolder struct {
	Folder   string `json:"folder,omitempty"` // empty if there is none
	Sessions int    `json:"sessions,omitempty"`
	// By is how it is known: "marker", "root" or "name".
	By string `json:"by,omitempty"`
}
