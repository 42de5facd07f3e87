package cli

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// leaveProgram takes the pages of the program itself, its code and its constants, out of
// the process. A start uses far more of them than what follows, which brings back those
// that it needs, 16 at a time, from the system's cache of the file. The system could
// take them away as well, but only does so when memory is short, and until then they
// count as ours.
func leaveProgram() {
	code := reflect.ValueOf(leaveProgram).Pointer()
	constants := uintptr(unsafe.Pointer(unsafe.StringData(usage)))
	_ = leave(code, constants) // the pages stay
}

// leave takes the pages of the mappings at the addresses out of the process, if they
// cannot be written and never were. There is at least one address.
func leave(addresses ...uintptr) error {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return fmt.Errorf("read the mappings: %w", err)
	}
	defer f.Close()
	last := slices.Max(addresses)
	var from, to uintptr // the mapping that the lines are about
	var access string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		switch {
		case strings.Contains(field, " "): // a mapping's first line, whose device has the colon
			if _, err := fmt.Sscanf(field, "%x-%x %s", &from, &to, &access); err != nil {
				return fmt.Errorf("read a mapping: %w", err)
			}
			if from > last { // the system works out each mapping as it is read
				return nil
			}
		case field == "Anonymous" && strings.TrimSpace(value) == "0 kB" && strings.HasPrefix(access, "r-") &&
			slices.ContainsFunc(addresses, func(a uintptr) bool { return from <= a && a < to }):
			if _, _, code := unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED); code != 0 {
				return fmt.Errorf("leave a mapping: %w", code)
			}
		}
	}
	return lines.Err()
}
