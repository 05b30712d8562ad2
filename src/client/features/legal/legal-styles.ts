/** Loads the style sheets of the legal pages. The legal pages have no code of their own. */
import '#client/ui/page/brand.module.css';
import './legal-page.module.css';
