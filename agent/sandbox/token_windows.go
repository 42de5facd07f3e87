package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unsafe"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/windows"
)

// restrictedToken confines with the user's own rights, without privileges but that
// of passing through folders, and at low integrity: a command cannot write what is
// not marked for that. It reads what the user reads, and uses the network, so that
// it serves only settings that accept a weaker confinement. It cannot keep a command
// from creating a protected folder that does not exist. No test of this project runs
// it on Windows.
//
// Folders that a command may change are marked, with everything in them. The mark
// stays: it does no harm but to let other programs of low integrity, such as
// parts of a browser, write there as well.
type restrictedToken struct{}

var tokenLevel = confine.Level{By: confine.RestrictedToken, Writes: true, Lack: confine.LackReads}

// means returns the way to confine commands here.
func means(weaker bool) enforcer {
	if weaker {
		return restrictedToken{}
	}
	return none{confine.Level{Lack: confine.LackReads}}
}

func (restrictedToken) level() confine.Level { return tokenLevel }

// The marks of files: who has less integrity does not write.
const (
	markLow    = "S:(ML;OICI;NW;;;LW)"
	markMedium = "S:(ML;OICI;NW;;;ME)"
)

// jail implements [enforcer].
func (restrictedToken) jail(spec Spec, argv []string) (_ *jail, err error) {
	p := spec.Confine.WithoutLayers()
	j := &jail{argv: argv}
	defer func() {
		if err != nil {
			j.release()
			err = fmt.Errorf("%w: %w", ErrNoConfinement, err)
		}
	}()
	if p.Temp == "" {
		if p.Temp, err = os.MkdirTemp("", "atelier-"); err != nil {
			return nil, fmt.Errorf("make the command's folder for temporary files: %w", err)
		}
		temp := p.Temp
		j.undo = append(j.undo, func() { _ = os.RemoveAll(temp) })
	}
	for _, path := range append([]string{p.Temp}, p.Writable...) {
		if err := markFiles(path, markLow); err != nil {
			return nil, fmt.Errorf("let the command write to %s: %w", path, err)
		}
	}
	for _, path := range p.Protected {
		if err := markFiles(path, markMedium); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("protect %s: %w", path, err)
		}
	}
	token, err := lowToken()
	if err != nil {
		return nil, err
	}
	j.undo = append(j.undo, func() { _ = token.Close() })
	j.env = append([]string{"TMP=" + p.Temp, "TEMP=" + p.Temp, "TMPDIR=" + p.Temp}, p.Env...)
	j.adjust = func(cmd *exec.Cmd) { cmd.SysProcAttr.Token = syscall.Token(token) }
	return j, nil
}

// markFiles marks a file, or a folder and everything in it, unless it is marked
// already.
func markFiles(path, mark string) error {
	const object = windows.SE_FILE_OBJECT
	now, err := windows.GetNamedSecurityInfo(path, object, windows.LABEL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	if _, level, _ := strings.Cut(mark, ";;;"); strings.Contains(now.String(), ";;;"+level) {
		return nil
	}
	wanted, err := windows.SecurityDescriptorFromString(mark)
	if err != nil {
		return err
	}
	label, _, err := wanted.SACL()
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(path, object, windows.LABEL_SECURITY_INFORMATION, nil, nil, nil, label)
}

var createRestrictedToken = windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")

// lowToken returns this program's token without privileges and at low integrity.
func lowToken() (token windows.Token, err error) {
	const disableMaxPrivilege = 1
	var own windows.Token
	rights := uint32(windows.TOKEN_DUPLICATE | windows.TOKEN_QUERY | windows.TOKEN_ADJUST_DEFAULT | windows.TOKEN_ASSIGN_PRIMARY)
	if err := windows.OpenProcessToken(windows.CurrentProcess(), rights, &own); err != nil {
		return 0, fmt.Errorf("open the token of this program: %w", err)
	}
	defer own.Close()
	done, _, err := createRestrictedToken.Call(uintptr(own), disableMaxPrivilege, 0, 0, 0, 0, 0, 0, uintptr(unsafe.Pointer(&token)))
	if done == 0 {
		return 0, fmt.Errorf("restrict the token: %w", err)
	}
	low, err := windows.CreateWellKnownSid(windows.WinLowLabelSid)
	if err == nil {
		label := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: low, Attributes: windows.SE_GROUP_INTEGRITY}}
		err = windows.SetTokenInformation(token, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size())
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("lower the integrity of the token: %w", err), token.Close())
	}
	return token, nil
}
