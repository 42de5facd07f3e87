package outbound

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// maxFile is the size at which a new file begins; one old file is kept.
const maxFile = 1 << 20

func fileIn(home string) string { return filepath.Join(home, "hosts.jsonl") }

// Save adds what was counted since the last Take or Save to the list in a folder. Several
// processes may do so at once.
func Save(home string) error {
	counted := Take()
	if len(counted) == 0 {
		return nil
	}
	path := fileIn(home)
	if info, err := os.Stat(path); err == nil && info.Size() > maxFile {
		_ = os.Rename(path, path+".1") // otherwise it grows on
	}
	var lines []byte
	for _, c := range counted {
		line, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("encode a host that was contacted: %w", err)
		}
		lines = append(append(lines, line...), '\n')
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the hosts that were contacted: %w", err)
	}
	_, err = f.Write(lines)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep the hosts that were contacted: %w", err)
	}
	return nil
}

// Load returns the list in a folder, one entry for each host and purpose, the newest first.
// Lines that cannot be read are left out.
func Load(home string) ([]Contact, error) {
	sums := map[key]*Contact{}
	for _, path := range []string{fileIn(home) + ".1", fileIn(home)} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the hosts that were contacted: %w", err)
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var c Contact
			if json.Unmarshal(lines.Bytes(), &c) != nil || c.Host == "" {
				continue
			}
			k := key{c.Host, c.Purpose}
			if sums[k] == nil {
				sums[k] = &Contact{Host: c.Host, Purpose: c.Purpose}
			}
			sums[k].Add(c)
		}
		_ = f.Close() // it was only read
	}
	out := make([]Contact, 0, len(sums))
	for _, c := range sums {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b Contact) int {
		return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Purpose, b.Purpose))
	})
	return out, nil
}
