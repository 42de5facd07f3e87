package env

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// Error is a failed file operation. Path is as the caller gave it; Problem is a
// phrase that follows it in a sentence.
type Error struct {
	Path    string
	Problem string
	Err     error // may be nil
}

// Error implements the error interface.
func (e *Error) Error() string { return e.Path + " " + e.Problem }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// explain puts the system's error about path into plain words.
func explain(path string, err error) error {
	if known := (*Error)(nil); err == nil || errors.As(err, &known) {
		return err
	}
	problem := "cannot be used: " + err.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problem = "does not exist"
	case errors.Is(err, syscall.ENOTDIR):
		problem = "does not exist: a part of its path is a file"
	case errors.Is(err, fs.ErrPermission):
		problem = "cannot be opened: permission denied"
	case errors.Is(err, syscall.ENOSPC):
		problem = "was not written: the disk is full. It is unchanged"
	case errors.Is(err, syscall.EROFS):
		problem = "was not written: the file system is read-only"
	case errors.Is(err, syscall.ELOOP):
		problem = "cannot be opened: its symbolic links lead in a circle"
	case escapes(err):
		problem = "leads out of the project through a symbolic link; use the path that the link points to"
	}
	return &Error{Path: path, Problem: problem, Err: err}
}

// escapes reports whether a path leads out of its root.
func escapes(err error) bool {
	return err != nil && strings.Contains(err.Error(), "path escapes from parent") // os.Root exports no error value for it
}

// notRegular says what kind of thing a path without content is.
func notRegular(path string, mode fs.FileMode) error {
	what := "a special file"
	switch {
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	case mode&fs.ModeSymlink != 0:
		what = "a symbolic link"
	}
	return &Error{Path: path, Problem: "is " + what + ", not a regular file"}
}

// IsLink returns the error about a path that is a symbolic link and must not be one. It
// names the target, if the environment can tell it.
func IsLink(e Environment, path string) error {
	links, ok := e.(Links)
	if !ok {
		return isLink(path, "")
	}
	target, _ := links.Readlink(path)
	return isLink(path, target)
}

func isLink(path, target string) error {
	if target == "" {
		return &Error{Path: path, Problem: "is a symbolic link; name the file that it points to"}
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return &Error{Path: path, Problem: "is a symbolic link to " + target + "; use that path"}
}
