/** Loads the style sheets of the legal pages; they have no script. */
import '#client/ui/page/brand.module.css';
import './legal-page.module.css';
