import { ruleForm } from '../approval/part'
import { askedForms } from '../asked/forms'
import { asideDialog } from '../aside/part'
import { cacheWarning } from '../composer/part'
import { forkDialog } from '../branches/part'
import { guideSteps } from '../guide/part'
import { contextDialog } from '../conversation/part'
import { grammars } from '../markdown/engine.svelte'
import { serverAsk } from '../mcp/part'
import { workDialog } from '../work/part'
import { queueList } from '../queue/part'
import { raceDialog, runsDialog } from '../runs/part'
import { palette } from '../palette/part'
import { searchBody } from '../search/part'
import { settingsBody } from '../settings/part'
import { shareDialog } from '../share/part'
import { exportDialog, importDialog } from '../transcripts/part'
import { trustReview } from '../trust/part'
import { undoDialog } from '../undo/part'
import { panels } from './panels'
import { paletteEntries } from './part'

/** What the first screen lacks, in the order in which it is loaded once the page is idle. */
export const later = [
  ruleForm,
  ...askedForms,
  trustReview,
  serverAsk,
  queueList,
  palette,
  paletteEntries,
  searchBody,
  grammars,
  settingsBody,
  undoDialog,
  contextDialog,
  cacheWarning,
  forkDialog,
  asideDialog,
  workDialog,
  runsDialog,
  raceDialog,
  ...panels.map(({ view }) => view),
  exportDialog,
  importDialog,
  shareDialog,
  guideSteps,
]
