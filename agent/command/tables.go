package command

import "strings"

var (
	systemFolders = strings.Fields("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /opt/homebrew/bin /snap/bin")
	streams       = strings.Fields("/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/urandom /dev/random /dev/fd/0 /dev/fd/1 /dev/fd/2")

	// gitSettings run nothing, whatever their value, as patterns.
	gitSettings = strings.Fields(`
		user.name user.email core.quotepath core.autocrlf core.eol core.ignorecase core.filemode color.* advice.* init.defaultbranch commit.gpgsign tag.gpgsign
		pull.rebase pull.ff push.default merge.conflictstyle diff.renames log.date safe.directory protocol.version branch.*.* fetch.prune rebase.autostash`)

	// longValues are long options that take the next argument, of any program.
	longValues = strings.Join(strings.Fields(`
		data data-raw data-ascii data-binary data-urlencode json form form-string upload-file request method output output-dir header user user-agent proxy config url max-time connect-timeout
		post-data post-file body-data body-file output-document directory target-directory expression file retry cookie cacert rsh rsync-path message
		branch depth exclude include exec command
		dump-header cookie-jar trace trace-ascii stderr libcurl hsts alt-svc etag-save etag-compare resolve connect-to unix-socket abstract-unix-socket doh-url
		url-query variable netrc-file key cert preproxy socks5 socks5-hostname interface input-file execute use-askpass post-file
		to-command use-compress-program checkpoint-action rsh-command new-volume-script info-script one-top-level unzip-command
		template reference receive-pack upload-pack origin`), " ")
)
