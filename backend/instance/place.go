package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// longestSocket is the path length that fits in sockaddr_un on every system.
const longestSocket = 100

// place has the paths of an instance's files.
type place struct{ lock, socket string }

// Key names a project folder in file names. It is equal for all paths that lead
// to the same folder.
func Key(folder string) (string, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("locate %s: %w", folder, err)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", fmt.Errorf("locate %s: %w", folder, err)
	}
	sum := sha256.Sum256([]byte(real))
	return hex.EncodeToString(sum[:8]), nil
}

// locate returns the place for a folder. Each home has its own instances,
// because the content of a window comes from its home.
func locate(home, folder string) (place, error) {
	ofFolder, err := Key(folder)
	if err != nil {
		return place{}, err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return place{}, fmt.Errorf("create Atelier's folder: %w", err)
	}
	ofHome, err := Key(home)
	if err != nil {
		return place{}, err
	}
	dir := filepath.Join(home, "run")
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		dir = filepath.Join(runtime, "atelier")
	}
	name := ofHome + "-" + ofFolder
	if len(filepath.Join(dir, name+".sock")) > longestSocket {
		dir = filepath.Join(os.TempDir(), "atelier-"+strconv.Itoa(os.Getuid()))
	}
	if err := private(dir); err != nil {
		return place{}, err
	}
	return place{lock: filepath.Join(dir, name+".lock"), socket: filepath.Join(dir, name+".sock")}, nil
}

// private makes sure that only this user can enter the folder dir.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create run folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("check run folder: %w", err)
	}
	if !info.IsDir() || !ownPrivate(info) {
		return fmt.Errorf("check run folder: %s must be a folder of yours with permissions 0700", dir)
	}
	return nil
}
