/** Languages that few projects have; see [loadRare]. */
import hljs from 'highlight.js/lib/core'
import cpp from 'highlight.js/lib/languages/cpp'
import csharp from 'highlight.js/lib/languages/csharp'
import kotlin from 'highlight.js/lib/languages/kotlin'
import php from 'highlight.js/lib/languages/php'
import ruby from 'highlight.js/lib/languages/ruby'
import sql from 'highlight.js/lib/languages/sql'
import swift from 'highlight.js/lib/languages/swift'

export function register(): void {
  const languages = { cpp, csharp, kotlin, php, ruby, sql, swift }
  for (const [name, grammar] of Object.entries(languages)) hljs.registerLanguage(name, grammar)
}
