package sensitive

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// settingsByLine are files of settings whose lines can be read one by one: some say
// where packages come from, and some hold a token.
var settingsByLine = strings.Fields(".npmrc .yarnrc .yarnrc.yml .pnpmrc bunfig.toml pip.conf pip.ini settings.xml gradle.properties .condarc")

// HasLines reports whether [WithoutTokens] can read a file, told by its name.
func HasLines(path string) bool {
	return slices.Contains(settingsByLine, strings.ToLower(filepath.Base(path)))
}

// secretLine matches a line that gives a token, or says where one is.
var secretLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)_auth|_password|auth_?(?:token|ident)|token|passw|passphrase|secret|api_?key|privatekey|proxy`)
})

// WithoutTokens returns a file of settings without the lines that hold a token or a
// password, and without the names and passwords in addresses. It reports whether there
// was something to leave out.
func WithoutTokens(path string) (text []byte, has bool, err error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxConfiguration) {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, false, err
	}
	all, err := os.ReadFile(path)
	if err != nil {
		return nil, false, err
	}
	for line := range bytes.Lines(all) {
		if !secretLine().Match(line) {
			text = append(text, addresses().ReplaceAllFunc(line, func(address []byte) []byte {
				scheme, _, _ := bytes.Cut(address, []byte("://"))
				return append(slices.Clone(scheme), "://"...)
			})...)
		}
	}
	return text, !bytes.Equal(text, all), nil
}
