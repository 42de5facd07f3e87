package filechanges

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"atelier.dev/atelier/backend/internal/watch"
)

// Limits of what is watched for pages. Only the folders that a page shows are, so that a project
// of any size costs the same.
const (
	maxWatched = 200              // folders
	maxWaiting = 8                // pages at once; another one waits for its turn
	waiting    = 20 * time.Second // after which a page asks again
)

// FilesWaitRequest is for files.wait: the folders that are shown, from the root of the files,
// which is always watched; and the stamp of the last answer, or nothing at first.
type FilesWaitRequest struct {
	Session string   `json:"session,omitempty"`
	Folders []string `json:"folders,omitempty"`
	Stamp   string   `json:"stamp,omitempty"`
}

// FilesWaitReply says whether something changed in the folders since the stamp of the request.
type FilesWaitReply struct {
	Stamp   string `json:"stamp"`
	Changed bool   `json:"changed,omitempty"`
}

// wait returns once something in the folders has changed, or after a while. Without a stamp it
// returns at once: the page reads the files and goes on with the stamp of the answer.
func (c *Changes) wait(ctx context.Context, in FilesWaitRequest) (FilesWaitReply, error) {
	root, err := c.cfg.Project.FolderOf(ctx, in.Session)
	if err != nil {
		return FilesWaitReply{}, err
	}
	select {
	case c.waits <- struct{}{}:
		defer func() { <-c.waits }()
	case <-ctx.Done():
		return FilesWaitReply{}, context.Cause(ctx)
	}
	folders := map[string]bool{root: true}
	for _, name := range in.Folders[:min(len(in.Folders), maxWatched)] {
		if name = filepath.FromSlash(name); filepath.IsLocal(name) {
			folders[filepath.Join(root, name)] = true
		}
	}
	told := make(chan struct{}, 1)
	w := watch.New(watch.Config{
		Notice: func(string) bool { return true },
		Tell: func(context.Context) {
			select {
			case told <- struct{}{}:
			default:
			}
		},
	})
	w.Start(func(context.Context) { w.Keep(folders) })
	defer w.Close()
	before := stampOf(folders)
	if before != in.Stamp {
		return FilesWaitReply{Stamp: before, Changed: true}, nil
	}
	timer := time.NewTimer(waiting)
	defer timer.Stop()
	for {
		select {
		case <-told:
			now := stampOf(folders)
			if w.Polls() && now == before {
				continue
			}
			return FilesWaitReply{Stamp: now, Changed: true}, nil
		case <-timer.C:
			return FilesWaitReply{Stamp: before}, nil
		case <-ctx.Done():
			return FilesWaitReply{}, context.Cause(ctx)
		}
	}
}

// stampOf changes with the folders, and with the names in them.
func stampOf(folders map[string]bool) string {
	sum := fnv.New64a()
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		if info, err := os.Lstat(dir); err == nil {
			fmt.Fprintf(sum, "%s %d\n", dir, info.ModTime().UnixNano())
		}
	}
	return fmt.Sprintf("%016x", sum.Sum64())
}
